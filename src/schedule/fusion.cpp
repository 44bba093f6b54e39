#include "schedule/fusion.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

using Index = std::size_t;

bool is_anchor(OpKind kind) {
  return kind == OpKind::Mm || kind == OpKind::Addmm || is_reduction(kind);
}

/// A value that an inlined expression ends at, and whether it is seen at the same index.
struct Leaf {
  ValueId value = -1;
  bool same_index = true;
};

class Planner {
 public:
  Planner(
      const Program& program,
      const FusionOptions& options,
      const std::set<ValueId>& must_store,
      ValueTable& table
  )
      : program_(program), options_(options), must_store_(must_store), table_(table) {
    plan_.task_of.assign(program.values.size(), -1);
    results_ = result_values(program);
    for (const ProgramState& state : program.state) {
      states_.insert(state.after);
    }
    count_readers();
  }

  FusionPlan run() {
    for (const Op& op : program_.ops) {
      const ValueId v = op.output;
      if (readers_[Index(v)] == 0 && !results_.contains(v)) {
        continue;  // dead
      }
      if (is_view(op.kind)) {
        place_view(op);
      } else if (is_anchor(op.kind)) {
        place_anchor(op);
      } else if (is_elementwise(op.kind)) {
        if (is_stored(op)) {
          place_elementwise(v);
        }
      } else if (op.kind == OpKind::Full) {
        if (results_.contains(v) || must_store_.contains(v)) {
          place_elementwise(v);
        }
      } else {
        throw UserError(fmt::format("op {}: no target computes it", op_name(op.kind)));
      }
    }
    return std::move(plan_);
  }

 private:
  /// Live readers of each value, through free views and inlined casts.
  void count_readers() {
    readers_.assign(program_.values.size(), 0);
    feeds_gemm_.assign(program_.values.size(), 0);
    guarded_.assign(program_.values.size(), 0);
    for (auto op = program_.ops.rbegin(); op != program_.ops.rend(); ++op) {
      const ValueId v = op->output;
      if (readers_[Index(v)] == 0 && !results_.contains(v)) {
        continue;
      }
      // An inlined cast is no reader of its own: two readers behind it read its operand.
      const bool inlined_cast = op->kind == OpKind::Cast && options_.pointwise &&
                                !must_store_.contains(v) && feeds_gemm_[Index(v)] == 0 &&
                                guarded_[Index(v)] == 0;
      const bool passes_on = (table_.is_free_view(v) || inlined_cast) && !results_.contains(v);
      for (Index i = 0; i < op->inputs.size(); ++i) {
        const ValueId input = op->inputs[i];
        readers_[Index(input)] += passes_on ? readers_[Index(v)] : 1;
        const bool bias = op->kind == OpKind::Addmm && i == 0;
        if ((op->kind == OpKind::Mm || op->kind == OpKind::Addmm) && !bias) {
          feeds_gemm_[Index(input)] = 1;
        }
        if (op->kind == OpKind::SelectBackward || op->kind == OpKind::SliceBackward) {
          guarded_[Index(input)] = 1;
        }
        if (is_view(op->kind)) {
          feeds_gemm_[Index(input)] |= feeds_gemm_[Index(v)];
          guarded_[Index(input)] |= guarded_[Index(v)];
        }
      }
    }
  }

  bool casts_argument(const Op& op) const {
    if (op.kind != OpKind::Cast) {
      return false;
    }
    Chain chain;
    return table_.is_argument(follow_views(table_, op.inputs[0], chain));
  }

  bool is_stored(const Op& op) const {
    const ValueId v = op.output;
    if (results_.contains(v) || must_store_.contains(v) || guarded_[Index(v)] != 0 ||
        op.kind == OpKind::SelectBackward || op.kind == OpKind::SliceBackward) {
      return true;
    }
    if (casts_argument(op)) {
      return !options_.inline_casts;
    }
    if (feeds_gemm_[Index(v)] != 0 || !options_.pointwise) {
      return true;
    }
    return op.kind != OpKind::Cast && readers_[Index(v)] > 1;
  }

  void collect(ValueId v, bool same_index, std::vector<Leaf>& leaves) const {
    Chain chain;
    const ValueId base = follow_views(table_, v, chain);
    same_index = same_index && chain.empty();
    if (table_.is_argument(base) || table_.op_of(base).kind == OpKind::Full) {
      if (!table_.is_argument(base) && plan_.task_of[Index(base)] >= 0) {
        leaves.push_back({base, same_index});
      }
      return;
    }
    if (plan_.task_of[Index(base)] >= 0) {
      leaves.push_back({base, same_index});
      return;
    }
    for (const ValueId operand : table_.op_of(base).inputs) {
      const bool same = program_.value(operand).shape == program_.value(base).shape;
      collect(operand, same_index && same, leaves);
    }
  }

  std::vector<Leaf> leaves_of_inputs(ValueId v) const {
    std::vector<Leaf> leaves;
    for (const ValueId operand : table_.op_of(v).inputs) {
      collect(operand, program_.value(operand).shape == program_.value(v).shape, leaves);
    }
    return leaves;
  }

  /// Whether task `from` needs, directly or not, what task `to` computes.
  bool depends(int from, int to) const {
    if (from == to) {
      return true;
    }
    return std::any_of(needs_[Index(from)].begin(), needs_[Index(from)].end(), [&](int next) {
      return depends(next, to);
    });
  }

  int new_task(ValueId v, ValueId anchor) {
    plan_.anchor.push_back(anchor);
    plan_.members.push_back({v});
    needs_.emplace_back();
    shape_.push_back(program_.value(v).shape);
    plan_.task_of[Index(v)] = static_cast<int>(plan_.anchor.size()) - 1;
    return plan_.task_of[Index(v)];
  }

  void need(int task, const std::vector<Leaf>& leaves) {
    for (const Leaf& leaf : leaves) {
      const int other = plan_.task_of[Index(leaf.value)];
      if (other != task) {
        table_.stored[Index(leaf.value)] = 1;
        needs_[Index(task)].insert(other);
      }
    }
  }

  void place_view(const Op& op) {
    const ValueId v = op.output;
    if (!table_.is_free_view(v) || results_.contains(v)) {
      std::vector<Leaf> leaves;
      collect(op.inputs[0], true, leaves);
      const int task = new_task(v, -1);
      table_.stored[Index(v)] = 1;
      table_.copied[Index(v)] = 1;
      need(task, leaves);
    }
  }

  void place_anchor(const Op& op) {
    std::vector<Leaf> leaves;
    for (const ValueId operand : op.inputs) {
      collect(operand, false, leaves);
    }
    const int task = new_task(op.output, op.output);
    if (results_.contains(op.output) || must_store_.contains(op.output)) {
      table_.stored[Index(op.output)] = 1;
    }
    need(task, leaves);
  }

  bool may_join(ValueId v, int task, const std::vector<Leaf>& leaves) const {
    const bool after_sum = plan_.anchor[Index(task)] >= 0;
    const bool updates = states_.contains(v);
    if (after_sum ? !(updates ? options_.update : options_.epilogue) : !options_.pointwise) {
      return false;
    }
    if (shape_[Index(task)] != program_.value(v).shape ||
        table_.copied[Index(plan_.members[Index(task)].front())] != 0) {
      return false;
    }
    return std::all_of(leaves.begin(), leaves.end(), [&](const Leaf& leaf) {
      const int other = plan_.task_of[Index(leaf.value)];
      return other == task ? leaf.same_index : !depends(other, task);
    });
  }

  void place_elementwise(ValueId v) {
    const OpKind kind = table_.op_of(v).kind;
    const std::vector<Leaf> leaves = leaves_of_inputs(v);
    int task = -1;
    if (kind != OpKind::SelectBackward && kind != OpKind::SliceBackward) {
      for (const Leaf& leaf : leaves) {
        const int other = plan_.task_of[Index(leaf.value)];
        if (other > task && may_join(v, other, leaves)) {
          task = other;
        }
      }
    }
    if (task < 0) {
      task = new_task(v, -1);
    } else {
      plan_.task_of[Index(v)] = task;
      plan_.members[Index(task)].push_back(v);
    }
    table_.stored[Index(v)] = 1;
    need(task, leaves);
  }

  const Program& program_;
  const FusionOptions& options_;
  const std::set<ValueId>& must_store_;
  ValueTable& table_;
  FusionPlan plan_;
  std::set<ValueId> results_;
  std::set<ValueId> states_;
  std::vector<int> readers_;
  std::vector<char> feeds_gemm_;
  std::vector<char> guarded_;
  std::vector<std::set<int>> needs_;
  std::vector<std::vector<std::int64_t>> shape_;
};

}  // namespace

std::set<ValueId> result_values(const Program& program) {
  std::set<ValueId> results(program.outputs.begin(), program.outputs.end());
  for (const ProgramState& state : program.state) {
    if (state.after != state.before) {
      results.insert(state.after);
    }
  }
  return results;
}

FusionPlan plan_fusion(
    const Program& program,
    const FusionOptions& options,
    const std::set<ValueId>& must_store,
    const std::set<ValueId>& must_copy,
    ValueTable& table
) {
  table.program = &program;
  table.producer.assign(program.values.size(), -1);
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    table.producer[static_cast<std::size_t>(program.ops[i].output)] = static_cast<int>(i);
  }
  table.stored.assign(program.values.size(), 0);
  table.copied.assign(program.values.size(), 0);
  table.buffer.assign(program.values.size(), -1);
  for (const ValueId v : must_copy) {
    table.copied[static_cast<std::size_t>(v)] = 1;
  }
  return Planner(program, options, must_store, table).run();
}

}  // namespace whet
