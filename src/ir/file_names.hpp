#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "base/json.hpp"
#include "ir/program.hpp"

namespace whet {

/// A name as a workload file may give it: any UTF-8 text of 1 to 10,000 characters. Throws
/// UserError.
std::string read_name(const JsonCursor& cursor);

/// The tensors that a workload file has named so far.
class NameTable {
 public:
  /// Throws UserError for a name that is taken, saying where.
  void define(const JsonCursor& cursor, const std::string& name, ValueId value);
  std::optional<ValueId> find(const std::string& name) const;
  /// The value that a string refers to. Throws UserError for a name that nothing defines.
  ValueId resolve(const JsonCursor& cursor) const;
  /// Throws UserError "expected a defined value, found NAME", with the nearest name there is.
  [[noreturn]] void refuse_dangling(const JsonCursor& cursor, const std::string& name) const;

 private:
  struct Entry {
    ValueId value;
    std::string where;
  };
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace whet
