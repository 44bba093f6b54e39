#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/program.hpp"
#include "schedule/schedule.hpp"
#include "schedule/shadows.hpp"

namespace whet {

/// Which pointwise values disappear into their readers.
struct FusionOptions {
  bool pointwise = true;     ///< single-reader values are computed where they are read
  bool epilogue = true;      ///< what follows a product or reduction joins its task
  bool update = true;        ///< the new state joins the task of its gradient
  bool inline_casts = true;  ///< casts of arguments happen at every read

  bool operator==(const FusionOptions&) const = default;
};

/// A Program as tasks without order, tiling or addresses. Buffers hold whole values; `home` says in
/// which buffer a value is found.
struct TaskGraph {
  std::vector<Buffer> buffers;
  std::vector<Shadow> shadows;
  std::vector<Task> tasks;
  std::map<ValueId, int> home;          ///< value to buffer
  std::vector<std::vector<int>> after;  ///< tasks that must end before task i starts
  int num_staged_commits = 0;
  ValueId next_synthetic = 0;  ///< ids from here on name partial sums
};

/// Decides fusion and homes. Throws UserError for an op that no target has.
TaskGraph build_tasks(const ShadowedProgram& program, const FusionOptions& options);

/// Fills `graph.after` from loads and stores: readers after writers, and a state tensor's writer
/// after all readers of its old value. A writer that cannot wait is staged: it writes a buffer of
/// its own, and a commit task copies. Throws InternalError on a cycle.
void order_tasks(const Program& program, TaskGraph& graph);

}  // namespace whet
