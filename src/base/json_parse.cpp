// nlohmann's own document builder lets the last of two equal keys win, turns 1e400 into a late type
// error and nests as deep as memory goes. So the document is built here from its SAX events.
#include "base/json_parse.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

class DocumentBuilder : public nlohmann::json_sax<Json> {
 public:
  DocumentBuilder(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& token) override {
    // The lexer hands over an integer as a float just when 64 bits do not hold it.
    if (token.find_first_of(".eE") == std::string::npos) {
      refuse(fmt::format("expected an integer of at most 64 bits, found {}", shortened(token)));
    }
    return put(value);
  }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { throw InternalError("JSON text held binary data"); }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    Level& level = levels_.back();
    level.key = key;
    if (!level.keys.insert(key).second) {
      refuse("expected each key once, found it a second time");
    }
    return true;
  }

  bool parse_error(
      std::size_t position, const std::string& token, const nlohmann::detail::exception& error
  ) override {
    constexpr int kOutOfRange = 406;
    const std::string place = line_and_column(position);
    if (error.id == kOutOfRange) {
      refuse(fmt::format(
          "expected a number that a double holds, found {} ({})", shortened(token), place
      ));
    }
    throw UserError(fmt::format("{}: {}: {}", name_, place, reason(error.what())));
  }

 private:
  /// An array or object that is still open.
  struct Level {
    Json* container;
    std::string key;                       ///< the member being read
    std::unordered_set<std::string> keys;  ///< ordered_json's own look-up is linear
  };

  Json* add(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = levels_.back();
    if (level.container->is_array()) {
      level.container->push_back(std::move(value));
      return &level.container->back();
    }
    // The vector's emplace_back rather than the map's emplace, which would search for the key
    // again.
    auto& members = level.container->get_ref<Json::object_t&>();
    return &members.Json::object_t::Container::emplace_back(level.key, std::move(value)).second;
  }

  template <typename T>
  bool put(T&& value) {
    add(Json(std::forward<T>(value)));
    return true;
  }

  bool open(Json container) {
    if (levels_.size() >= static_cast<std::size_t>(JsonCursor::kMaxDepth)) {
      refuse(fmt::format("expected at most {} levels of nesting", JsonCursor::kMaxDepth));
    }
    levels_.push_back({.container = add(std::move(container)), .key = {}, .keys = {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  std::string path() const {
    std::string path = "$";
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const Level& level = levels_[i];
      const bool innermost = i + 1 == levels_.size();
      if (level.container->is_array()) {
        path = element_path(path, level.container->size() - (innermost ? 0 : 1));
      } else {
        path = member_path(path, level.key);
      }
    }
    return path;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw UserError(fmt::format("{}: {}: {}", name_, path(), what));
  }

  /// `position` counts the bytes read so far, the offending one included.
  std::string line_and_column(std::size_t position) const {
    const std::string_view before =
        text_.substr(0, std::min(position, text_.size() + 1) - (position > 0 ? 1 : 0));
    const std::size_t newline = before.rfind('\n');
    const std::size_t column =
        newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
    return fmt::format(
        "line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'), column
    );
  }

  /// The library's text without its own prefix and position.
  static std::string reason(const std::string& what) {
    const std::size_t column = what.find("column ");
    const std::size_t colon = what.find(": ", column == std::string::npos ? 0 : column);
    return colon == std::string::npos ? what : what.substr(colon + 2);
  }

  static std::string shortened(const std::string& token) {
    constexpr std::size_t kMaxShown = 60;
    return token.size() <= kMaxShown ? token : token.substr(0, kMaxShown) + "...";
  }

  std::string_view text_;
  std::string name_;
  Json root_;
  std::vector<Level> levels_;
};

bool is_identifier(const std::string& key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

}  // namespace

std::string member_path(const std::string& path, const std::string& key) {
  return is_identifier(key) ? fmt::format("{}.{}", path, key)
                            : fmt::format("{}[{}]", path, Json(key).dump());
}

std::string element_path(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

Json parse_json(std::string_view text, const std::string& name) {
  if (text.size() > JsonCursor::kMaxBytes) {
    throw UserError(fmt::format(
        "{}: expected at most {} bytes, found {}", name, JsonCursor::kMaxBytes, text.size()
    ));
  }
  DocumentBuilder builder(text, name);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    throw InternalError(fmt::format("{}: the JSON parser stopped without an error", name));
  }
  return builder.take();
}

}  // namespace whet
