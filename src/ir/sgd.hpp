#pragma once

#include <vector>

#include "ir/program.hpp"

namespace whet {

/// Sets every state tensor's new value to state - gradient * lr, in the state's dtype, rounded
/// after the product and after the difference as `p - lr * g` is in eager mode. `gradients` has one
/// value for each of program.state; `lr` is a 0-d scalar.
void append_sgd(Program& program, const std::vector<ValueId>& gradients, ValueId lr);

}  // namespace whet
