#pragma once

#include "base/json.hpp"
#include "ir/file_dims.hpp"
#include "ir/file_names.hpp"
#include "ir/program.hpp"

namespace whet {

/// Appends the ops of a "forward" or "body" list. Throws UserError as parse_op_syntax and append_op
/// do, and for operands that are dangling, out of order or in a cycle.
void read_ops(const JsonCursor& list, const DimTable& dims, NameTable& names, Program& program);

}  // namespace whet
