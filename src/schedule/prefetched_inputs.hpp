#pragma once

#include "ir/program.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// Gives inputs copies in the shared memory of a schedule with one block, as far as they fit, and
/// has its tasks read those. Several steps a launch: two copies, of which a step reads one while
/// the next step's inputs come to the other. One: only what may come while the launch before runs,
/// since what may not would come before the state and not beside it.
void prefetch_inputs(const Program& program, const DeviceLimits& limits, Schedule& schedule);

}  // namespace whet
