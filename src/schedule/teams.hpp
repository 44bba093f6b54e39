#pragma once

#include "schedule/schedule.hpp"

namespace whet {

/// Gives every task of a GPU schedule its warps: the whole block, or, where the knob `teams` is on,
/// a share of it that follows from the task's work, so that the tasks of a phase do not wait for
/// each other. Products with staged operands keep the block.
void assign_teams(const Configuration& configuration, Schedule& schedule);

/// Gives the staging of each task its place, and `schedule` the size of all; tasks are tiled.
void place_scratch(Schedule& schedule);

}  // namespace whet
