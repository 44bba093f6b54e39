#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "ir/program.hpp"

namespace whet::testing {

/// What LibTorch makes of the values of a Program, in double with the declared roundings, and how
/// far each element of a correct kernel may be from that (f64). Undefined tensors are values that
/// no op gave yet.
struct BoundedValues {
  std::vector<at::Tensor> values;
  std::vector<at::Tensor> bounds;
};

/// Computes the result of `op` and its bound: the operands' bounds through the op to first order
/// (exactly where that is as easy), a rounding of the result to its dtype on either side, and the
/// roundings of f32 arithmetic inside the op.
void evaluate_with_bound(const Program& program, const Op& op, BoundedValues& at);

/// Where a correct kernel may take the other branch of an op, or divide by what may be zero: "" or
/// the reason. Looks at the operands of `op` only.
std::string near_kink(const Program& program, const Op& op, const BoundedValues& at);

}  // namespace whet::testing
