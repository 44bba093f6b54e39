#include "ir/differentiate.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

using Index = std::size_t;
using Dims = std::vector<std::int64_t>;

/// Appends backward ops in the order in which autograd's engine runs nodes: latest forward op
/// first, so that a value's gradients are added in the order of their arrival.
class Backward {
 public:
  Backward(Program& program, ValueId loss, const std::vector<ValueId>& targets)
      : program_(program), num_forward_(program.ops.size()) {
    gradient_.assign(program.values.size(), -1);
    mark_needed(targets);
    OpAttributes one{.other = 1.0};
    one.shape = program.value(loss).shape;
    one.dtype = program.value(loss).dtype;
    gradient_[Index(loss)] = append(OpKind::Full, {}, one);
  }

  std::vector<ValueId> run(const std::vector<ValueId>& targets) {
    for (Index i = num_forward_; i-- > 0;) {
      const Op op = program_.ops[i];  // a copy: appending moves the ops
      const ValueId grad = gradient_[Index(op.output)];
      if (grad >= 0 && needed_[Index(op.output)] != 0) {
        step(op, grad);
      }
    }
    std::vector<ValueId> result;
    for (const ValueId target : targets) {
      ValueId grad = gradient_[Index(target)];
      const TensorDesc tensor = program_.value(target);
      if (grad < 0) {
        OpAttributes zeros;
        zeros.shape = tensor.shape;
        zeros.dtype = tensor.dtype;
        grad = append(OpKind::Full, {}, zeros);
      }
      program_.values[Index(grad)].name = "grad:" + tensor.name;
      result.push_back(grad);
    }
    return result;
  }

 private:
  void mark_needed(const std::vector<ValueId>& targets) {
    needed_.assign(program_.values.size(), 0);
    for (const ValueId target : targets) {
      needed_[Index(target)] = 1;
    }
    for (const Op& op : program_.ops) {
      for (const ValueId input : op.inputs) {
        needed_[Index(op.output)] |= needed_[Index(input)];
      }
    }
  }

  ValueId append(OpKind kind, std::vector<ValueId> inputs, OpAttributes attributes = {}) {
    const ValueId v = append_op(
        program_, kind, std::move(inputs), std::move(attributes), fmt::format("g{}", ++num_values_)
    );
    gradient_.resize(program_.values.size(), -1);
    needed_.resize(program_.values.size(), 0);
    return v;
  }

  ValueId scalar_op(OpKind kind, ValueId a, double other) {
    return append(kind, {a}, {.other = other});
  }

  ValueId transposed(ValueId a) { return append(OpKind::Transpose, {a}, {.dims = {0, 1}}); }

  const Dims& shape_of(ValueId v) const { return program_.value(v).shape; }

  /// Undoes a broadcast: sums the dims that it added or stretched, as autograd's sum_to_size does.
  ValueId sum_to(ValueId grad, const Dims& shape) {
    const Dims from = shape_of(grad);
    if (from == shape) {
      return grad;
    }
    const Index added = from.size() - shape.size();
    OpAttributes attributes{.keepdim = true};
    for (Index d = 0; d < from.size(); ++d) {
      if (d < added || (shape[d - added] == 1 && from[d] != 1)) {
        attributes.dims.push_back(static_cast<std::int64_t>(d));
      }
    }
    ValueId sum = append(OpKind::Sum, {grad}, attributes);
    if (added > 0) {
      OpAttributes view;
      view.shape = shape;
      sum = append(OpKind::Reshape, {sum}, view);
    }
    return sum;
  }

  void give(ValueId input, ValueId grad) {
    if (needed_[Index(input)] == 0) {
      return;
    }
    grad = sum_to(grad, Dims(shape_of(input)));
    ValueId& total = gradient_[Index(input)];
    if (total < 0) {
      gradient_[Index(input)] = grad;
    } else {
      const ValueId sum = append(OpKind::Add, {total, grad});
      gradient_[Index(input)] = sum;
    }
  }

  bool wants(const Op& op, Index i) const { return needed_[Index(op.inputs[i])] != 0; }

  ValueId scaled(ValueId v, double factor) {
    return factor == 1.0 ? v : scalar_op(OpKind::Mul, v, factor);
  }

  void product(const Op& op, ValueId grad, Index first) {
    const ValueId a = op.inputs[first];
    const ValueId b = op.inputs[first + 1];
    if (wants(op, first)) {
      give(a, scaled(append(OpKind::Mm, {grad, transposed(b)}), op.attributes.alpha));
    }
    if (wants(op, first + 1)) {
      give(b, scaled(append(OpKind::Mm, {transposed(a), grad}), op.attributes.alpha));
    }
  }

  void divide(const Op& op, ValueId grad) {
    if (op.inputs.size() == 1) {
      give(op.inputs[0], scalar_op(OpKind::Div, grad, op.attributes.other));
      return;
    }
    const ValueId a = op.inputs[0];
    const ValueId b = op.inputs[1];
    if (wants(op, 0)) {
      give(a, append(OpKind::Div, {grad, b}));
    }
    if (wants(op, 1)) {
      // -grad * ((a / b) / b). Source: ATen's div_tensor_other_grad.
      const ValueId quotient = append(OpKind::Div, {append(OpKind::Div, {a, b}), b});
      give(b, append(OpKind::Mul, {append(OpKind::Neg, {grad}), quotient}));
    }
  }

  void power(const Op& op, ValueId grad) {
    const double exponent = op.attributes.other;
    const ValueId a = op.inputs[0];
    if (exponent == 0.0) {
      OpAttributes zeros;
      zeros.shape = shape_of(a);
      zeros.dtype = program_.value(a).dtype;
      give(a, append(OpKind::Full, {}, zeros));
      return;
    }
    // grad * (exponent * a ^ (exponent - 1)). Source: ATen's pow_backward.
    const ValueId root = scalar_op(OpKind::Pow, a, exponent - 1.0);
    give(a, append(OpKind::Mul, {grad, scalar_op(OpKind::Mul, root, exponent)}));
  }

  /// The gradient of a sum, stretched over the dims that it reduced.
  ValueId stretched(const Op& op, ValueId grad) {
    const Dims shape = shape_of(op.inputs[0]);
    OpAttributes keep;
    keep.shape = shape;
    if (!op.attributes.dims.empty()) {
      for (const std::int64_t dim : op.attributes.dims) {
        keep.shape[Index(dim)] = 1;
      }
    } else {
      keep.shape.assign(shape.size(), 1);
    }
    if (shape_of(grad) != keep.shape) {
      grad = append(OpKind::Reshape, {grad}, keep);
    }
    OpAttributes expand;
    expand.shape = shape;
    return append(OpKind::Expand, {grad}, expand);
  }

  void view(const Op& op, ValueId grad) {
    const ValueId a = op.inputs[0];
    OpAttributes attributes = op.attributes;
    switch (op.kind) {
      case OpKind::Transpose:
        give(a, append(OpKind::Transpose, {grad}, attributes));
        return;
      case OpKind::Permute: {
        OpAttributes inverse;
        inverse.dims.resize(attributes.dims.size());
        for (Index d = 0; d < attributes.dims.size(); ++d) {
          inverse.dims[Index(attributes.dims[d])] = static_cast<std::int64_t>(d);
        }
        give(a, append(OpKind::Permute, {grad}, inverse));
        return;
      }
      case OpKind::Reshape: {
        OpAttributes back;
        back.shape = shape_of(a);
        give(a, append(OpKind::Reshape, {grad}, back));
        return;
      }
      case OpKind::Expand:
        give(a, grad);
        return;
      default:
        attributes.shape = shape_of(a);
        give(
            a,
            append(
                op.kind == OpKind::Select ? OpKind::SelectBackward : OpKind::SliceBackward,
                {grad},
                attributes
            )
        );
    }
  }

  void step(const Op& op, ValueId grad) {
    if (is_view(op.kind)) {
      view(op, grad);
      return;
    }
    switch (op.kind) {
      case OpKind::Mm:
        product(op, grad, 0);
        return;
      case OpKind::Addmm:
        if (wants(op, 0)) {
          give(op.inputs[0], scaled(grad, op.attributes.beta));
        }
        product(op, grad, 1);
        return;
      case OpKind::Add:
      case OpKind::Sub:
        give(op.inputs[0], grad);
        if (op.inputs.size() == 2 && wants(op, 1)) {
          const double sign = op.kind == OpKind::Add ? 1.0 : -1.0;
          const double alpha = op.attributes.alpha;
          give(
              op.inputs[1],
              sign < 0.0 && alpha == 1.0 ? append(OpKind::Neg, {grad}) : scaled(grad, sign * alpha)
          );
        }
        return;
      case OpKind::Mul:
        if (op.inputs.size() == 1) {
          give(op.inputs[0], scalar_op(OpKind::Mul, grad, op.attributes.other));
          return;
        }
        if (wants(op, 0)) {
          give(op.inputs[0], append(OpKind::Mul, {grad, op.inputs[1]}));
        }
        if (wants(op, 1)) {
          give(op.inputs[1], append(OpKind::Mul, {grad, op.inputs[0]}));
        }
        return;
      case OpKind::Div:
        divide(op, grad);
        return;
      case OpKind::Neg:
        give(op.inputs[0], append(OpKind::Neg, {grad}));
        return;
      case OpKind::Relu:
        give(op.inputs[0], append(OpKind::ThresholdBackward, {grad, op.output}));
        return;
      case OpKind::ThresholdBackward:
        if (wants(op, 0)) {
          give(
              op.inputs[0], append(OpKind::ThresholdBackward, {grad, op.inputs[1]}, op.attributes)
          );
        }
        return;  // no gradient through the comparison
      case OpKind::Pow:
        power(op, grad);
        return;
      case OpKind::Cast:
        give(
            op.inputs[0],
            append(OpKind::Cast, {grad}, {.dtype = program_.value(op.inputs[0]).dtype})
        );
        return;
      case OpKind::Sum:
        give(op.inputs[0], stretched(op, grad));
        return;
      case OpKind::Mean: {
        const std::int64_t kept = num_elements(shape_of(op.output));
        const std::int64_t all = num_elements(shape_of(op.inputs[0]));
        const double count = kept == 0 ? 1.0 : static_cast<double>(all / kept);
        give(op.inputs[0], scalar_op(OpKind::Div, stretched(op, grad), count));
        return;
      }
      case OpKind::MseLoss: {
        if (wants(op, 0)) {
          give(op.inputs[0], append(OpKind::MseLossBackward, {grad, op.inputs[0], op.inputs[1]}));
        }
        if (wants(op, 1)) {
          give(op.inputs[1], append(OpKind::MseLossBackward, {grad, op.inputs[1], op.inputs[0]}));
        }
        return;
      }
      case OpKind::Full:
        return;
      default:
        throw UserError(fmt::format(
            "{} of {}: no derivative; write the step as a captured body with updates",
            op_name(op.kind),
            program_.value(op.output).name
        ));
    }
  }

  Program& program_;
  Index num_forward_;
  std::vector<ValueId> gradient_;
  std::vector<char> needed_;
  int num_values_ = 0;
};

}  // namespace

std::vector<ValueId> differentiate(
    Program& program, ValueId loss, const std::vector<ValueId>& targets
) {
  WHET_CHECK(program.value(loss).shape.empty(), "the loss is 0-d");
  return Backward(program, loss, targets).run(targets);
}

}  // namespace whet
