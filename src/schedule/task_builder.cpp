#include "schedule/task_builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

ViewStep step_of(const ValueTable& table, ValueId v) {
  const Op& op = table.op_of(v);
  return {
      .kind = op.kind,
      .attributes = op.attributes,
      .from = table.program->value(op.inputs.at(0)).shape,
      .to = table.program->value(v).shape,
      .view = v};
}

Chain with_broadcast(const Program& program, ValueId operand, ValueId result, const Chain& chain) {
  const auto& from = program.value(operand).shape;
  const auto& to = program.value(result).shape;
  if (from == to) {
    return chain;
  }
  Chain longer{broadcast_step(from, to)};
  longer.insert(longer.end(), chain.begin(), chain.end());
  return longer;
}

std::string chain_key(ValueId v, const Chain& chain) {
  std::string key = fmt::format("{}", v);
  for (const ViewStep& step : chain) {
    key += fmt::format(
        "|{} {} {} {} {} [{}] [{}]",
        static_cast<int>(step.kind),
        fmt::join(step.attributes.dims, ","),
        step.attributes.index,
        step.attributes.start,
        step.attributes.step,
        fmt::join(step.from, ","),
        fmt::join(step.to, ",")
    );
  }
  return key;
}

/// A load of grad where the result's index along the dimension selects it, zero elsewhere.
ExprNode guarded_load(const ValueTable& table, ValueId v) {
  const Op& op = table.op_of(v);
  const TensorDesc& result = table.program->value(v);
  const ValueId grad = op.inputs.at(0);
  Chain chain;
  const ValueId base = follow_views(table, grad, chain);
  Access access = access_through(table, base, chain);
  std::int64_t dim = op.attributes.dims.at(0);
  dim = dim < 0 ? dim + static_cast<std::int64_t>(result.shape.size()) : dim;
  const std::int64_t size = result.shape.at(static_cast<std::size_t>(dim));
  Guard guard{.dim = static_cast<int>(dim)};
  if (op.kind == OpKind::SelectBackward) {
    guard.start = op.attributes.index < 0 ? op.attributes.index + size : op.attributes.index;
    guard.count = 1;
    access.strides.insert(access.strides.begin() + static_cast<std::ptrdiff_t>(dim), 0);
  } else {
    guard.start = op.attributes.start < 0 ? op.attributes.start + size : op.attributes.start;
    guard.start = std::min(std::max<std::int64_t>(guard.start, 0), size);
    guard.step = op.attributes.step;
    guard.count = table.program->value(grad).shape.at(static_cast<std::size_t>(dim));
  }
  access.guard = guard;
  return {
      .kind = ExprNode::Kind::Load,
      .access = std::move(access),
      .dtype = result.dtype,
      .value = base};
}

}  // namespace

bool is_elementwise(OpKind kind) {
  return is_pointwise(kind) || kind == OpKind::SelectBackward || kind == OpKind::SliceBackward;
}

ValueId follow_views(const ValueTable& table, ValueId v, Chain& chain) {
  while (table.is_free_view(v)) {
    chain.insert(chain.begin(), step_of(table, v));
    v = table.op_of(v).inputs.at(0);
  }
  return v;
}

Access access_through(const ValueTable& table, ValueId v, const Chain& chain) {
  const TensorDesc& tensor = table.program->value(v);
  if (table.buffer[static_cast<std::size_t>(v)] < 0) {
    throw NeedsStorage{.value = v};
  }
  // What a task stores is dense, a view too.
  Affine affine{
      .offset = 0,
      .strides = table.is_argument(v) ? tensor.strides : contiguous_strides(tensor.shape)};
  for (const ViewStep& step : chain) {
    std::optional<Affine> next = through(affine, step);
    if (!next) {
      throw NeedsStorage{.value = step.view, .copy = true};  // only a reshape does not fit
    }
    affine = std::move(*next);
  }
  return {
      .buffer = table.buffer[static_cast<std::size_t>(v)],
      .offset = affine.offset,
      .strides = std::move(affine.strides)};
}

int TaskBuilder::add(ExprNode node) {
  task_.nodes.push_back(std::move(node));
  return static_cast<int>(task_.nodes.size()) - 1;
}

void TaskBuilder::set_accumulator(ValueId v) { accumulator_ = v; }

std::optional<int> TaskBuilder::local(ValueId v) const {
  const auto found = memo_.find(chain_key(v, {}));
  return found == memo_.end() ? std::nullopt : std::optional<int>(found->second);
}

int TaskBuilder::load(ValueId v, const Chain& chain) {
  return add(
      {.kind = ExprNode::Kind::Load,
       .access = access_through(table_, v, chain),
       .dtype = table_.program->value(v).dtype,
       .value = v}
  );
}

int TaskBuilder::apply(ValueId v, const Chain& chain) {
  const Program& program = *table_.program;
  const Op& op = table_.op_of(v);
  ExprNode node{
      .kind = ExprNode::Kind::Apply,
      .op = op.kind,
      .attributes = op.attributes,
      .dtype = program.value(v).dtype,
      .value = v};
  if (op.kind == OpKind::SelectBackward || op.kind == OpKind::SliceBackward) {
    if (!chain.empty()) {
      throw NeedsStorage{.value = v};
    }
    return add(guarded_load(table_, v));
  }
  if (op.kind == OpKind::MseLossBackward) {
    node.num_reduced = num_elements(program.value(op.inputs.at(1)).shape);
  }
  for (const ValueId operand : op.inputs) {
    node.operands.push_back(build(operand, with_broadcast(program, operand, v, chain)));
  }
  return add(std::move(node));
}

int TaskBuilder::build(ValueId v, Chain chain) {
  v = follow_views(table_, v, chain);
  const std::string key = chain_key(v, chain);
  if (const auto found = memo_.find(key); found != memo_.end()) {
    return found->second;
  }
  const auto index = static_cast<std::size_t>(v);
  int node = -1;
  if (v == accumulator_ && chain.empty()) {
    // Only reached through set_accumulator's own op, whose result the caller memoises.
    const Op& op = table_.op_of(v);
    ExprNode sum{.kind = ExprNode::Kind::Accumulator, .value = v};
    ExprNode result{
        .kind = ExprNode::Kind::Apply,
        .op = op.kind,
        .attributes = op.attributes,
        .operands = {add(sum)},
        .dtype = table_.program->value(v).dtype,
        .value = v};
    if (op.kind == OpKind::Addmm && op.attributes.beta != 0.0) {
      const ValueId bias = op.inputs.at(0);
      result.operands.push_back(build(bias, with_broadcast(*table_.program, bias, v, {})));
    }
    if (op.kind == OpKind::Mean || op.kind == OpKind::MseLoss) {
      const std::int64_t reduced = num_elements(table_.program->value(op.inputs.at(0)).shape);
      const std::int64_t kept = num_elements(table_.program->value(v).shape);
      result.num_reduced = kept == 0 ? 0 : reduced / kept;
    }
    node = add(std::move(result));
  } else if (table_.is_argument(v) || table_.stored[index] != 0) {
    node = load(v, chain);
  } else if (table_.op_of(v).kind == OpKind::Full) {
    const Op& op = table_.op_of(v);
    node = add(
        {.kind = ExprNode::Kind::Constant,
         .attributes = op.attributes,
         .dtype = table_.program->value(v).dtype,
         .value = v}
    );
  } else if (is_elementwise(table_.op_of(v).kind)) {
    node = apply(v, chain);
  } else {
    throw NeedsStorage{.value = v};
  }
  memo_.emplace(key, node);
  return node;
}

}  // namespace whet
