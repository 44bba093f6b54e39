// One function for each family of ops. The order of the ops, and with it every rounding, is that of
// PyTorch's derivatives.yaml and FunctionsManual.cpp.
#include "base/error.hpp"
#include "ir/backward.hpp"

namespace whet {
namespace {

using Dims = std::vector<std::int64_t>;

/// ATen's maybe_multiply.
ValueId scaled(Backward& b, ValueId value, double factor) {
  return factor == 1.0 ? value : b.append(OpKind::Mul, {value}, {.other = factor});
}

ValueId transposed(Backward& b, ValueId matrix) {
  return b.append(OpKind::Transpose, {matrix}, {.dims = {0, 1}});
}

/// The matrices are operands `first` and `first + 1`.
void derive_product(Backward& b, const Op& op, ValueId grad, std::size_t first) {
  const ValueId left = op.inputs[first];
  const ValueId right = op.inputs[first + 1];
  const double alpha = op.kind == OpKind::Addmm ? op.attributes.alpha : 1.0;
  if (b.wants(op, first)) {
    b.give(left, scaled(b, b.append(OpKind::Mm, {grad, transposed(b, right)}), alpha));
  }
  if (b.wants(op, first + 1)) {
    b.give(right, scaled(b, b.append(OpKind::Mm, {transposed(b, left), grad}), alpha));
  }
}

void derive_addmm(Backward& b, const Op& op, ValueId grad) {
  if (b.wants(op, 0)) {
    b.give(op.inputs[0], scaled(b, grad, op.attributes.beta));
  }
  derive_product(b, op, grad, 1);
}

void derive_add(Backward& b, const Op& op, ValueId grad) {
  b.give(op.inputs[0], grad);
  if (op.inputs.size() == 2 && b.wants(op, 1)) {
    const ValueId signed_grad = op.kind == OpKind::Sub ? b.append(OpKind::Neg, {grad}) : grad;
    b.give(op.inputs[1], scaled(b, signed_grad, op.attributes.alpha));
  }
}

void derive_mul(Backward& b, const Op& op, ValueId grad) {
  if (op.inputs.size() == 1) {
    b.give(op.inputs[0], b.append(OpKind::Mul, {grad}, {.other = op.attributes.other}));
    return;
  }
  for (const std::size_t i : {0u, 1u}) {
    if (b.wants(op, i)) {
      b.give(op.inputs[i], b.append(OpKind::Mul, {grad, op.inputs[1 - i]}));
    }
  }
}

void derive_div(Backward& b, const Op& op, ValueId grad) {
  if (op.inputs.size() == 1) {
    b.give(op.inputs[0], b.append(OpKind::Div, {grad}, {.other = op.attributes.other}));
    return;
  }
  const ValueId over = op.inputs[0];
  const ValueId under = op.inputs[1];
  if (b.wants(op, 0)) {
    b.give(over, b.append(OpKind::Div, {grad, under}));
  }
  if (b.wants(op, 1)) {  // -grad * ((over / under) / under)
    const ValueId negated = b.append(OpKind::Neg, {grad});
    const ValueId once = b.append(OpKind::Div, {over, under});
    const ValueId twice = b.append(OpKind::Div, {once, under});
    b.give(under, b.append(OpKind::Mul, {negated, twice}));
  }
}

void derive_pow(Backward& b, const Op& op, ValueId grad) {
  const ValueId base = op.inputs[0];
  const double exponent = op.attributes.other;
  if (exponent == 0.0) {
    b.give(base, b.zeros(base));
    return;
  }
  const ValueId power = b.append(OpKind::Pow, {base}, {.other = exponent - 1.0});
  const ValueId slope = b.append(OpKind::Mul, {power}, {.other = exponent});
  b.give(base, b.append(OpKind::Mul, {grad, slope}));
}

void derive_threshold_backward(Backward& b, const Op& op, ValueId grad) {
  if (b.wants(op, 0)) {
    b.give(op.inputs[0], b.append(OpKind::ThresholdBackward, {grad, op.inputs[1]}, op.attributes));
  }
  if (b.wants(op, 1)) {
    b.give(op.inputs[1], b.zeros(grad));
  }
}

void derive_cast(Backward& b, const Op& op, ValueId grad) {
  const DType from = b.tensor(op.inputs[0]).dtype;
  const bool same = from == b.tensor(grad).dtype;  // then autograd has no node
  b.give(op.inputs[0], same ? grad : b.append(OpKind::Cast, {grad}, {.dtype = from}));
}

/// The gradient of a sum, stretched over the dimensions that it reduced.
ValueId stretched(Backward& b, const Op& op, ValueId grad) {
  const Dims shape = b.tensor(op.inputs[0]).shape;
  if (!op.attributes.keepdim && !b.tensor(grad).shape.empty()) {
    Dims kept = shape;
    for (const std::int64_t dim : op.attributes.dims) {
      kept[static_cast<std::size_t>(dim)] = 1;
    }
    grad = b.append(OpKind::Reshape, {grad}, {.shape = kept});
  }
  return b.append(OpKind::Expand, {grad}, {.shape = shape});
}

void derive_mean(Backward& b, const Op& op, ValueId grad) {
  std::int64_t count = 1;
  for (const std::int64_t dim : op.attributes.dims) {
    count *= b.tensor(op.inputs[0]).shape[static_cast<std::size_t>(dim)];
  }
  const ValueId spread = stretched(b, op, grad);
  b.give(op.inputs[0], b.append(OpKind::Div, {spread}, {.other = static_cast<double>(count)}));
}

void derive_mse_loss(Backward& b, const Op& op, ValueId grad) {
  for (const std::size_t i : {0u, 1u}) {
    if (b.wants(op, i)) {
      b.give(
          op.inputs[i], b.append(OpKind::MseLossBackward, {grad, op.inputs[i], op.inputs[1 - i]})
      );
    }
  }
}

void derive_permute(Backward& b, const Op& op, ValueId grad) {
  const Dims& dims = op.attributes.dims;
  OpAttributes inverse;
  inverse.dims.resize(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) {
    inverse.dims[static_cast<std::size_t>(dims[d])] = static_cast<std::int64_t>(d);
  }
  b.give(op.inputs[0], b.append(OpKind::Permute, {grad}, inverse));
}

void derive_part(Backward& b, const Op& op, ValueId grad) {
  const OpKind kind = op.kind == OpKind::Select ? OpKind::SelectBackward : OpKind::SliceBackward;
  OpAttributes whole = op.attributes;
  whole.shape = b.tensor(op.inputs[0]).shape;
  b.give(op.inputs[0], b.append(kind, {grad}, whole));
}

}  // namespace

void derive(Backward& b, const Op& op, ValueId grad) {
  switch (op.kind) {
    case OpKind::Mm:
      return derive_product(b, op, grad, 0);
    case OpKind::Addmm:
      return derive_addmm(b, op, grad);
    case OpKind::Add:
    case OpKind::Sub:
      return derive_add(b, op, grad);
    case OpKind::Mul:
      return derive_mul(b, op, grad);
    case OpKind::Div:
      return derive_div(b, op, grad);
    case OpKind::Neg:
      return b.give(op.inputs[0], b.append(OpKind::Neg, {grad}));
    case OpKind::Relu:
      return b.give(op.inputs[0], b.append(OpKind::ThresholdBackward, {grad, op.output}));
    case OpKind::ThresholdBackward:
      return derive_threshold_backward(b, op, grad);
    case OpKind::Pow:
      return derive_pow(b, op, grad);
    case OpKind::Cast:
      return derive_cast(b, op, grad);
    case OpKind::Full:
      return;
    case OpKind::Sum:
      return b.give(op.inputs[0], stretched(b, op, grad));
    case OpKind::Mean:
      return derive_mean(b, op, grad);
    case OpKind::MseLoss:
      return derive_mse_loss(b, op, grad);
    case OpKind::Transpose:
      return b.give(op.inputs[0], b.append(OpKind::Transpose, {grad}, op.attributes));
    case OpKind::Permute:
      return derive_permute(b, op, grad);
    case OpKind::Reshape:
      return b.give(
          op.inputs[0], b.append(OpKind::Reshape, {grad}, {.shape = b.tensor(op.inputs[0]).shape})
      );
    case OpKind::Expand:
      return b.give(op.inputs[0], grad);
    case OpKind::Select:
    case OpKind::Slice:
      return derive_part(b, op, grad);
    case OpKind::SelectBackward:
      return b.give(op.inputs[0], b.append(OpKind::Select, {grad}, op.attributes));
    case OpKind::SliceBackward:
      return b.give(op.inputs[0], b.append(OpKind::Slice, {grad}, op.attributes));
    case OpKind::MseLossBackward:
      break;
  }
  throw UserError(fmt::format(
      "{}: expected an op with a derivative in a forward part, found {} = {} (a step that is "
      "already differentiated goes into \"body\" and \"updates\")",
      op_name(op.kind),
      quoted_name(b.tensor(op.output).name),
      op_name(op.kind)
  ));
}

}  // namespace whet
