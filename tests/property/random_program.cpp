#include "property/random_program.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "property/draw_op.hpp"
#include "property/drawn_program.hpp"

namespace whet::testing {
namespace {

using Index = std::size_t;

/// Of a loss: each costs the compiler a handful of loops.
constexpr int kMaxTerms = 3;

/// The loss is the sum of a number for each of the last values that nothing reads.
class LossDrawer {
 public:
  explicit LossDrawer(DrawnProgram& drawn) : drawn_(drawn) {}

  void run() {
    std::set<ValueId> read;
    for (const Op& op : drawn_.program().ops) {
      read.insert(op.inputs.begin(), op.inputs.end());
    }
    std::optional<ValueId> total;
    int num_terms = 0;
    for (auto v = static_cast<ValueId>(drawn_.program().values.size());
         --v > 0 && num_terms < kMaxTerms;) {
      if (read.contains(v)) {
        continue;
      }
      const std::optional<ValueId> number = reduced(v);
      if (!number) {
        continue;  // as ill-conditioned as its operands allow: no part of the loss
      }
      total = total ? joined(*total, *number) : number;
      ++num_terms;
    }
    drawn_.program().loss = total ? *total : zero_loss();
  }

 private:
  /// As f32: through weights or not, by one of the reductions.
  std::optional<ValueId> reduced(ValueId v) {
    if (drawn_.random.chance(0.5)) {
      v = drawn_
              .attempt(
                  OpKind::Mul,
                  {v, drawn_.leaf(drawn_.shape(v), DrawnProgram::Sign::Any, drawn_.dtype_of(v))}
              )
              .value_or(v);
    }
    std::optional<ValueId> number = v;
    if (drawn_.rank(v) > 0 || drawn_.random.chance(0.3)) {
      const OpKind kind = drawn_.random.chance(0.5) ? OpKind::Sum : OpKind::Mean;
      number = drawn_.random.chance(0.3) ? squared_distance(v) : drawn_.attempt(kind, {v});
      if (!number) {
        number = squared_distance(v);
      }
    }
    return number && drawn_.dtype_of(*number) != DType::F32
               ? drawn_.attempt(OpKind::Cast, {*number}, {.dtype = DType::F32})
               : number;
  }

  std::optional<ValueId> squared_distance(ValueId v) {
    return drawn_.attempt(
        OpKind::MseLoss,
        {v, drawn_.leaf(drawn_.shape(v), DrawnProgram::Sign::Any, drawn_.dtype_of(v))}
    );
  }

  /// The sum of two numbers, or their difference where the sum cancels.
  ValueId joined(ValueId a, ValueId b) {
    if (const auto sum = drawn_.attempt(OpKind::Add, {a, b})) {
      return *sum;
    }
    return drawn_.attempt(OpKind::Sub, {a, b}).value_or(a);
  }

  ValueId zero_loss() { return *drawn_.attempt(OpKind::Full, {}, {.dtype = DType::F32}); }

  DrawnProgram& drawn_;
};

/// Any values, the results of views and leaves too.
void choose_outputs(DrawnProgram& drawn) {
  const auto num_values = static_cast<std::int64_t>(drawn.program().values.size());
  for (std::int64_t i = drawn.random.below(4); i > 0; --i) {
    drawn.program().outputs.push_back(static_cast<ValueId>(1 + drawn.random.below(num_values - 1)));
  }
}

/// Some states become another value of their shape, perhaps another state's old one.
void choose_new_states(DrawnProgram& drawn) {
  for (ProgramState& state : drawn.program().state) {
    const auto fits = [&](ValueId v) {
      return drawn.shape(v) == drawn.shape(state.before) &&
             drawn.dtype_of(v) == drawn.dtype_of(state.before);
    };
    if (drawn.random.chance(0.25)) {
      state.after = *drawn.find(fits);
    }
  }
}

}  // namespace

std::int64_t Rejections::total() const {
  std::int64_t sum = 0;
  for (const auto& [reason, count] : by_reason) {
    sum += count;
  }
  return sum;
}

void Rejections::add(const Rejections& other) {
  num_drawn += other.num_drawn;
  for (const auto& [reason, count] : other.by_reason) {
    by_reason[reason] += count;
  }
}

RandomProgram draw_program(std::uint64_t seed, std::uint64_t index, Rejections& rejections) {
  DrawnProgram drawn(seed, index, rejections);
  const std::int64_t num_ops = 1 + drawn.random.below(7);
  drawn.leaf(drawn.draw_shape(1 + drawn.random.below(3)));
  // An attempt may add nothing: its op does not fit what there is, or is rejected.
  std::int64_t num_drawn = 0;
  for (std::int64_t tries = 0; num_drawn < num_ops && tries < 20 * num_ops; ++tries) {
    num_drawn += draw_op(drawn) ? 1 : 0;
  }
  LossDrawer(drawn).run();
  choose_outputs(drawn);
  choose_new_states(drawn);
  return pruned(drawn.take());
}

RandomProgram pruned(const RandomProgram& program) {
  const Program& from = program.forward;
  std::vector<bool> needed(from.values.size(), false);
  const auto need = [&](ValueId v) { needed[Index(v)] = true; };
  std::for_each(from.outputs.begin(), from.outputs.end(), need);
  need(from.loss.value());
  std::for_each(from.scalars.begin(), from.scalars.end(), need);
  for (const ProgramState& state : from.state) {
    if (state.after != state.before) {
      need(state.before);
      need(state.after);
    }
  }
  for (auto op = from.ops.rbegin(); op != from.ops.rend(); ++op) {
    if (needed[Index(op->output)]) {
      std::for_each(op->inputs.begin(), op->inputs.end(), need);
    }
  }
  RandomProgram result{.forward = {}, .leaves = {}, .rate = program.rate};
  Program& to = result.forward;
  std::vector<ValueId> moved(from.values.size(), -1);
  for (Index v = 0; v < from.values.size(); ++v) {
    if (needed[v]) {
      moved[v] = static_cast<ValueId>(to.values.size());
      to.values.push_back(from.values[v]);
    }
  }
  const auto now = [&](ValueId v) { return moved[Index(v)]; };
  for (ProgramInput input : from.inputs) {
    if (needed[Index(input.value)]) {
      input.value = now(input.value);
      to.inputs.push_back(input);
    }
  }
  for (const ProgramState& state : from.state) {
    if (needed[Index(state.before)]) {
      to.state.push_back({.before = now(state.before), .after = now(state.after)});
    }
  }
  for (Op op : from.ops) {
    if (needed[Index(op.output)]) {
      std::transform(op.inputs.begin(), op.inputs.end(), op.inputs.begin(), now);
      op.output = now(op.output);
      to.ops.push_back(std::move(op));
    }
  }
  for (const auto& [v, values] : program.leaves) {
    if (needed[Index(v)]) {
      result.leaves[now(v)] = values;
    }
  }
  std::transform(from.scalars.begin(), from.scalars.end(), std::back_inserter(to.scalars), now);
  std::transform(from.outputs.begin(), from.outputs.end(), std::back_inserter(to.outputs), now);
  to.loss = now(*from.loss);
  return result;
}

}  // namespace whet::testing
