#pragma once

#include <algorithm>
#include <cstddef>

#include "schedule/schedule.hpp"

namespace whet {

/// Calls `visit(access, value, elementwise)` for each read; a read is elementwise if it happens at
/// the index that the task's stores write.
template <typename Visit>
void for_each_read(const Task& task, Visit visit) {
  const int summed = task.reduce ? task.reduce->operand : -1;
  for (std::size_t n = 0; n < task.nodes.size(); ++n) {
    if (task.nodes[n].kind == ExprNode::Kind::Load) {
      visit(task.nodes[n].access, task.nodes[n].value, static_cast<int>(n) > summed);
    }
  }
  if (task.gemm) {
    visit(task.gemm->a.access, task.gemm->a.value, false);
    visit(task.gemm->b.access, task.gemm->b.value, false);
  }
}

/// Whether a task of the phase writes a buffer.
inline bool writes(const Phase& phase, int buffer) {
  return std::any_of(phase.tasks.begin(), phase.tasks.end(), [&](const Task& task) {
    return std::any_of(task.stores.begin(), task.stores.end(), [&](const Store& store) {
      return store.access.buffer == buffer;
    });
  });
}

}  // namespace whet
