#pragma once

#include <vector>

#include "ir/program.hpp"

namespace whet {

/// Appends reverse-mode gradients of the 0-d value `loss` with respect to `targets`, as the ATen
/// backward ops that autograd would call, accumulating fan-out in autograd's order. Returns one
/// value a target; a target that the loss does not depend on gets zeros. Throws UserError for an op
/// that has no derivative here.
std::vector<ValueId> differentiate(
    Program& program, ValueId loss, const std::vector<ValueId>& targets
);

}  // namespace whet
