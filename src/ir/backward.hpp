#pragma once

#include <string>
#include <vector>

#include "ir/program.hpp"

namespace whet {

/// The gradients of a Program while they are built. It appends backward ops in the order in which
/// autograd's engine runs nodes: the latest forward op first, so that the gradients of a value are
/// added in the order of their arrival.
class Backward {
 public:
  /// Starts with a gradient of one for `loss`; only values that depend on `targets` get gradients.
  Backward(Program& program, ValueId loss, const std::vector<ValueId>& targets);

  /// Goes through the forward ops once.
  void run();
  /// The gradient of a target, zeros when the loss does not depend on it.
  ValueId gradient_of(ValueId target);

  // For the derivatives of single ops.
  const TensorDesc& tensor(ValueId value) const { return program_.value(value); }
  /// Whether operand `i` of the op needs a gradient.
  bool wants(const Op& op, std::size_t i) const;
  ValueId append(OpKind kind, std::vector<ValueId> inputs, OpAttributes attributes = {});
  /// Zeros like `value`.
  ValueId zeros(ValueId value);
  /// Adds `grad` to the gradient of `value` after undoing a broadcast.
  void give(ValueId value, ValueId grad);

 private:
  ValueId sum_to(ValueId grad, std::vector<std::int64_t> shape);
  void name_gradients();

  Program& program_;
  std::size_t num_forward_ops_;
  std::size_t num_forward_values_;
  std::vector<bool> needed_;       ///< one for each forward value
  std::vector<ValueId> gradient_;  ///< one for each forward value; -1 is none yet
};

/// Gives the operands of `op` their gradients, as autograd's node for it would. Throws UserError
/// for an op that has no derivative here.
void derive(Backward& backward, const Op& op, ValueId grad);

}  // namespace whet
