#include "ir/differentiate.hpp"

#include <utility>

#include "base/error.hpp"
#include "ir/backward.hpp"

namespace whet {
namespace {

std::size_t index(ValueId value) { return static_cast<std::size_t>(value); }

}  // namespace

Backward::Backward(Program& program, ValueId loss, const std::vector<ValueId>& targets)
    : program_(program),
      num_forward_ops_(program.ops.size()),
      num_forward_values_(program.values.size()),
      needed_(program.values.size(), false),
      gradient_(program.values.size(), -1) {
  for (const ValueId target : targets) {
    needed_.at(index(target)) = true;
  }
  for (const Op& op : program.ops) {
    for (const ValueId input : op.inputs) {
      needed_[index(op.output)] = needed_[index(op.output)] || needed_[index(input)];
    }
  }
  gradient_[index(loss)] = append(
      OpKind::Full, {}, {.other = 1.0, .shape = tensor(loss).shape, .dtype = tensor(loss).dtype}
  );
}

void Backward::run() {
  for (std::size_t i = num_forward_ops_; i-- > 0;) {
    const Op op = program_.ops[i];  // a copy: appending moves the ops
    const ValueId grad = gradient_[index(op.output)];
    if (grad >= 0 && needed_[index(op.output)]) {
      derive(*this, op, grad);
    }
  }
  name_gradients();
}

ValueId Backward::gradient_of(ValueId target) {
  ValueId& grad = gradient_[index(target)];
  if (grad < 0) {
    grad = zeros(target);
    program_.values[index(grad)].name = "grad:" + tensor(target).name;
  }
  return grad;
}

bool Backward::wants(const Op& op, std::size_t i) const { return needed_[index(op.inputs.at(i))]; }

ValueId Backward::append(OpKind kind, std::vector<ValueId> inputs, OpAttributes attributes) {
  std::string name = fmt::format("g{}", program_.values.size() - num_forward_values_);
  return append_op(program_, kind, std::move(inputs), std::move(attributes), std::move(name));
}

ValueId Backward::zeros(ValueId value) {
  return append(
      OpKind::Full, {}, {.other = 0.0, .shape = tensor(value).shape, .dtype = tensor(value).dtype}
  );
}

void Backward::give(ValueId value, ValueId grad) {
  if (!needed_[index(value)]) {
    return;
  }
  grad = sum_to(grad, tensor(value).shape);
  const ValueId before = gradient_[index(value)];
  gradient_[index(value)] = before < 0 ? grad : append(OpKind::Add, {before, grad});
}

/// Sums the dimensions that a broadcast added or stretched; `shape` by value, as appending moves
/// the tensors. Source: ATen, ExpandUtils.h, sum_to.
ValueId Backward::sum_to(ValueId grad, std::vector<std::int64_t> shape) {
  const std::vector<std::int64_t> from = tensor(grad).shape;
  if (from == shape) {
    return grad;
  }
  if (shape.empty()) {
    return append(OpKind::Sum, {grad});
  }
  const std::size_t added = from.size() - shape.size();
  OpAttributes sum;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (d < added || (shape[d - added] == 1 && from[d] != 1)) {
      sum.dims.push_back(static_cast<std::int64_t>(d));
    }
  }
  // Where only added dims are summed, they need not be kept to be dropped at once.
  sum.keepdim = sum.dims.size() != added;
  const ValueId total = append(OpKind::Sum, {grad}, sum);
  return added == 0 || !sum.keepdim ? total : append(OpKind::Reshape, {total}, {.shape = shape});
}

/// "grad:h1" for the gradient of h1; what lies between keeps its number. A tensor that is the
/// gradient of several values is named after the last.
void Backward::name_gradients() {
  std::vector<bool> named(program_.values.size(), false);
  for (std::size_t v = num_forward_values_; v-- > 0;) {
    if (gradient_[v] >= 0 && !named[index(gradient_[v])]) {
      named[index(gradient_[v])] = true;
      program_.values[index(gradient_[v])].name = "grad:" + program_.values[v].name;
    }
  }
}

std::vector<ValueId> differentiate(
    Program& program, ValueId loss, const std::vector<ValueId>& targets
) {
  WHET_CHECK(program.value(loss).shape.empty(), "loss {}", describe(program.value(loss)));
  Backward backward(program, loss, targets);
  backward.run();
  std::vector<ValueId> gradients;
  for (const ValueId target : targets) {
    gradients.push_back(backward.gradient_of(target));
  }
  return gradients;
}

}  // namespace whet
