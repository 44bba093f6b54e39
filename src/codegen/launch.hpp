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

}  // namespace whet
