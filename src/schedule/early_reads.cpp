#include "schedule/early_reads.hpp"

#include <algorithm>

namespace whet {
namespace {

using Index = std::size_t;

bool writes(const Phase& phase, int buffer) {
  return std::any_of(phase.tasks.begin(), phase.tasks.end(), [&](const Task& task) {
    return std::any_of(task.stores.begin(), task.stores.end(), [&](const Store& store) {
      return store.access.buffer == buffer;
    });
  });
}

}  // namespace

void mark_early_reads(Schedule& schedule) {
  for (Index p = 1; p < schedule.phases.size(); ++p) {
    Phase& phase = schedule.phases[p];
    if (phase.edge_before != Edge::Grid) {
      continue;
    }
    const Phase& before = schedule.phases[p - 1];
    for (Task& task : phase.tasks) {
      if (!task.gemm || !task.gemm->tiling.direct) {
        continue;
      }
      for (ExprNode& node : task.nodes) {
        node.is_early =
            node.kind == ExprNode::Kind::Load && !writes(before, node.access.buffer);
      }
      for (GemmOperand* operand : {&task.gemm->a, &task.gemm->b}) {
        operand->is_early = !writes(before, operand->access.buffer);
      }
    }
  }
}

bool reads_early(const Phase& phase) {
  return std::any_of(phase.tasks.begin(), phase.tasks.end(), [](const Task& task) {
    const bool node_is_early =
        std::any_of(task.nodes.begin(), task.nodes.end(), [](const ExprNode& node) {
          return node.is_early;
        });
    return node_is_early || (task.gemm && (task.gemm->a.is_early || task.gemm->b.is_early));
  });
}

}  // namespace whet
