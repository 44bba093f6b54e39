#pragma once

#include "artifact/launch_plan.hpp"
#include "ir/program.hpp"
#include "schedule/device_limits.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// The kernel text of a schedule for its target, with how to launch it. A pure function: the same
/// input gives the same bytes.
KernelSource lower(const Program& program, const Schedule& schedule, const DeviceLimits& limits);

}  // namespace whet
