#pragma once

#include <string>

#include "artifact/launch_plan.hpp"
#include "ir/program.hpp"
#include "schedule/device_limits.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// How a schedule's kernel is launched.
LaunchPlan plan_launch(
    const Program& program,
    const Schedule& schedule,
    const DeviceLimits& limits,
    std::string workload_key
);

/// Whether the tiles of a phase begin before the edge in front of them, and wait for it themselves:
/// at the start of the launch for the first phase.
bool waits_in_tiles(const Schedule& schedule, const LaunchPlan& plan, std::size_t phase_idx);

/// Makes room in the workspace for the stamps of a profile build.
void add_stamps(LaunchPlan& plan, const Schedule& schedule);

}  // namespace whet
