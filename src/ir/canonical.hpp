#pragma once

#include <string>

#include "ir/program.hpp"

namespace whet {

/// The same Program in the one form that all files with the same dataflow share: ops that no
/// output, loss or new state needs are gone, ops that compute the same are one, and the order is
/// that of a depth-first walk from the loss, the outputs and the state, whatever the order in the
/// file. The interface keeps its order; a value keeps its name.
Program canonical(const Program& program);

/// Everything that tells one op from another, but for the name of its result; the operands appear
/// as ids. Equal strings, equal ops. Independent of the locale.
std::string op_signature(const Op& op);

}  // namespace whet
