#pragma once

#include <set>
#include <vector>

#include "schedule/task_builder.hpp"
#include "schedule/tasks.hpp"

namespace whet {

/// Where each value that is not inlined is computed.
struct FusionPlan {
  std::vector<int> task_of;     ///< value to task, -1 for inlined values, views and arguments
  std::vector<ValueId> anchor;  ///< task to its product's or reduction's result, -1 for a Map
  std::vector<std::vector<ValueId>> members;  ///< task to the values that it computes, in order
};

/// Decides which values are stored (`table.stored`) and which task computes them. `must_store` and
/// `must_copy` are what an earlier attempt found out to be necessary.
FusionPlan plan_fusion(
    const Program& program,
    const FusionOptions& options,
    const std::set<ValueId>& must_store,
    const std::set<ValueId>& must_copy,
    ValueTable& table
);

/// The results and new states of a program that some op computes.
std::set<ValueId> result_values(const Program& program);

}  // namespace whet
