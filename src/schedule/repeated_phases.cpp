#include "schedule/repeated_phases.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "schedule/reads.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// Products and elements that a block computes in about the time of a barrier between blocks.
constexpr std::int64_t kMaxWork = std::int64_t{1} << 16;

bool is_cheap(const Phase& phase) {
  std::int64_t work = 0;
  for (const Task& task : phase.tasks) {
    work += work_of(task);
  }
  return work <= kMaxWork;
}

/// Nobody but later phases of the step reads what the phase stores.
bool stores_workspace_only(const Schedule& schedule, const Phase& phase) {
  return std::ranges::all_of(phase.tasks, [&](const Task& task) {
    return std::ranges::all_of(task.stores, [&](const Store& store) {
      return schedule.buffers[Index(store.access.buffer)].storage == Storage::Workspace;
    });
  });
}

bool reads(const Task& task, int buffer) {
  bool found = false;
  for_each_read(task, [&](const Access& access, ValueId, bool) {
    found = found || access.buffer == buffer;
  });
  return found;
}

/// Whether the task writes what `phase` reads or writes.
bool disturbs(const Task& task, const Phase& phase) {
  return std::ranges::any_of(task.stores, [&](const Store& store) {
    return writes(phase, store.access.buffer) ||
           std::ranges::any_of(phase.tasks, [&](const Task& other) {
             return reads(other, store.access.buffer);
           });
  });
}

/// Whether `task` may run beside the tasks of `phase`.
bool goes_with(const Task& task, const Phase& phase) {
  return !disturbs(task, phase) && std::ranges::none_of(phase.tasks, [&](const Task& other) {
    return disturbs(other, Phase{.tasks = {task}});
  });
}

/// Moves what cannot follow `phase` without an edge between blocks from `next` to `last`. False,
/// and nothing is moved, if that is all of it or cannot be there.
bool make_room(const Phase& phase, Phase& next, Phase& last) {
  std::vector<Task> staying;
  std::vector<Task> moving;
  for (const Task& task : next.tasks) {
    (disturbs(task, phase) ? moving : staying).push_back(task);
  }
  if (staying.empty() || std::ranges::any_of(moving, [&](const Task& task) {
        return !goes_with(task, last) || !goes_with(task, Phase{.tasks = staying});
      })) {
    return false;
  }
  next.tasks = std::move(staying);
  std::ranges::move(moving, std::back_inserter(last.tasks));
  std::ranges::stable_sort(last.tasks, std::ranges::greater{}, work_of);
  return true;
}

}  // namespace

void repeat_cheap_phases(Schedule& schedule) {
  std::vector<Phase>& phases = schedule.phases;
  for (Index p = 0; p + 2 < phases.size(); ++p) {
    Phase& phase = phases[p];
    if (!is_cheap(phase) || !stores_workspace_only(schedule, phase) ||
        !make_room(phase, phases[p + 1], phases[p + 2])) {
      continue;
    }
    phase.is_repeated = true;
    for (const Task& task : phase.tasks) {
      for (const Store& store : task.stores) {
        schedule.buffers[Index(store.access.buffer)].storage = Storage::Shared;
      }
    }
    ++p;  // what follows is not behind an edge between blocks
  }
}

}  // namespace whet
