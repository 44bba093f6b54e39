#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ir/workload.hpp"

namespace whet {

/// The named dimensions of a workload file, some of them replaced from outside.
class DimTable {
 public:
  /// Reads `root`'s "dims". Throws UserError for an override of a name that the file does not have.
  DimTable(const JsonCursor& root, const DimOverrides& overrides);

  /// A size: an integer or the name of a dimension.
  std::int64_t size(const JsonCursor& entry) const;
  /// An array of sizes, within the limits of a Program.
  std::vector<std::int64_t> shape(const JsonCursor& list) const;
  /// An array of sizes, one of which may be -1 where the op infers it; the op checks the limits.
  std::vector<std::int64_t> open_shape(const JsonCursor& list) const;
  /// The size of the dimension that a string names.
  std::int64_t named(const JsonCursor& name) const;

 private:
  std::vector<std::string_view> names() const;

  std::map<std::string, std::int64_t> sizes_;
};

}  // namespace whet
