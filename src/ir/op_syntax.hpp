#pragma once

#include "base/json.hpp"
#include "ir/file_dims.hpp"
#include "ir/program.hpp"

namespace whet {

/// One op as a workload file spells it, with names not yet resolved.
struct OpSyntax {
  OpKind kind = OpKind::Full;
  OpAttributes attributes;
  std::vector<JsonCursor> inputs;
  JsonCursor output;
};

/// Reads one op. Throws UserError for an op that is unknown, random or in place, a key that this op
/// does not have, or a value of the wrong type; what fits what is append_op's to say.
OpSyntax parse_op_syntax(const JsonCursor& cursor, const DimTable& dims);

}  // namespace whet
