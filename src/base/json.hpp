#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whet {

/// For writing, and for frames between our own processes: keys keep the order in which they are
/// set.
using Json = nlohmann::ordered_json;

/// A place in a JSON document that a person wrote: every accessor checks the type and, when it does
/// not fit, throws UserError "FILE: $.path[0].key: expected X, found Y".
class JsonCursor {
 public:
  /// Limits that hostile documents run into before memory does.
  static constexpr std::size_t kMaxBytes = 64u << 20;
  static constexpr int kMaxDepth = 64;

  /// Throws UserError: unreadable, larger than kMaxBytes, not JSON (line and column), nested deeper
  /// than kMaxDepth, a duplicate key (its path), a number outside double or 64-bit integers.
  static JsonCursor parse_file(const std::filesystem::path& path);
  /// As parse_file; `name` stands for the file in messages.
  static JsonCursor parse_text(std::string_view text, const std::string& name);

  /// The member `key` of this object. Throws UserError if it is missing, naming the keys there are.
  JsonCursor at(const std::string& key) const;
  std::optional<JsonCursor> find(const std::string& key) const;
  /// Elements of this array.
  std::vector<JsonCursor> items() const;
  /// (key, member) pairs of this object in file order.
  std::vector<std::pair<std::string, JsonCursor>> members() const;
  /// Throws UserError for the first key of this object that is not in `keys`, suggesting the
  /// nearest.
  void allow_only(std::initializer_list<std::string_view> keys) const;

  bool is_string() const;
  bool is_number() const;
  bool is_integer() const;
  bool is_array() const;
  bool is_object() const;
  bool is_bool() const;

  std::string as_string() const;
  /// An integer (2.0 is not one) within [low, high].
  std::int64_t as_integer(std::int64_t low = INT64_MIN, std::int64_t high = INT64_MAX) const;
  /// A finite number, or one of the strings "inf", "-inf", "nan" if `allow_special`.
  double as_number(bool allow_special = false) const;
  bool as_bool() const;

  /// Throws UserError "FILE: PATH: expected EXPECTED, found FOUND"; without `found` this value is
  /// described.
  [[noreturn]] void fail(const std::string& expected, const std::string& found = "") const;
  /// "FILE: PATH".
  std::string where() const;
  /// The plain value, for storing verbatim.
  const Json& value() const;

 private:
  JsonCursor(
      std::shared_ptr<const Json> root, const Json* value, std::string file, std::string path
  )
      : root_(std::move(root)), value_(value), file_(std::move(file)), path_(std::move(path)) {}

  std::shared_ptr<const Json> root_;
  const Json* value_;
  std::string file_;
  std::string path_;
};

}  // namespace whet
