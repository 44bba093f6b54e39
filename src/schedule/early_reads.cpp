#include "schedule/early_reads.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "schedule/reads.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// Marks those reads of a phase's products that `may_be_early`.
void mark(Phase& phase, const std::function<bool(int buffer)>& may_be_early) {
  for (Task& task : phase.tasks) {
    if (!task.gemm || !task.gemm->tiling.direct) {
      continue;
    }
    for (ExprNode& node : task.nodes) {
      node.is_early = node.kind == ExprNode::Kind::Load && may_be_early(node.access.buffer);
    }
    for (GemmOperand* operand : {&task.gemm->a, &task.gemm->b}) {
      operand->is_early = may_be_early(operand->access.buffer);
    }
  }
}

/// What is there before a step and a phase behind the first is the first to touch, if it is small.
std::vector<int> first_touched_late(const Schedule& schedule) {
  constexpr std::int64_t kMaxBytes = 48 * 1024;
  std::vector<int> late;
  std::set<int> touched;
  std::int64_t bytes = 0;
  for (Index p = 0; p < schedule.phases.size(); ++p) {
    for (const Task& task : schedule.phases[p].tasks) {
      for_each_read(task, [&](const Access& access, ValueId, bool) {
        const Buffer& buffer = schedule.buffers[Index(access.buffer)];
        const bool is_global =
            buffer.storage == Storage::Argument || buffer.storage == Storage::Persistent;
        if (!is_global || buffer.is_resident || buffer.is_held ||
            !touched.insert(access.buffer).second) {
          return;
        }
        const std::int64_t size = buffer.num_elements * dtype_bytes(buffer.dtype);
        if (p > 0 && bytes + size <= kMaxBytes) {
          bytes += size;
          late.push_back(access.buffer);
        }
      });
    }
  }
  return late;
}

}  // namespace

std::int64_t warming_bytes(const Schedule& schedule) {
  return schedule.warmed.empty() ? 0 : schedule.threads * std::int64_t{4};
}

void mark_early_reads(const Program& program, const DeviceLimits& limits, Schedule& schedule) {
  if (schedule.partition == Partition::Block) {
    schedule.warmed = first_touched_late(schedule);
    if (schedule.shared_arena_bytes + schedule.scratch_bytes + warming_bytes(schedule) >
        limits.max_shared_bytes_per_block) {
      schedule.warmed.clear();
    }
    return;
  }
  const auto is_stable = [&](int b) {
    const Buffer& buffer = schedule.buffers[Index(b)];
    return buffer.storage == Storage::Argument && Index(buffer.argument) < program.inputs.size() &&
           program.inputs[Index(buffer.argument)].stable;
  };
  // Where an input lies is known behind the wait if the launches before count.
  if (schedule.overlaps && !schedule.counts_batches && !schedule.phases.empty()) {
    mark(schedule.phases.front(), is_stable);
  }
  for (Index p = 1; p < schedule.phases.size(); ++p) {
    if (is_between_blocks(schedule.phases[p].edge_before)) {
      const Phase& before = schedule.phases[p - 1];
      mark(schedule.phases[p], [&](int buffer) { return !writes(before, buffer); });
    }
  }
}

bool reads_early(const Phase& phase) {
  return std::any_of(phase.tasks.begin(), phase.tasks.end(), [](const Task& task) {
    const bool node_is_early = std::any_of(
        task.nodes.begin(), task.nodes.end(), [](const ExprNode& node) { return node.is_early; }
    );
    return node_is_early || (task.gemm && (task.gemm->a.is_early || task.gemm->b.is_early));
  });
}

}  // namespace whet
