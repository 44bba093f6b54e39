#pragma once

#include "artifact/launch_plan.hpp"
#include "ir/program.hpp"
#include "schedule/device_limits.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// What lower() does besides.
struct LowerOptions {
  /// A profile build: the kernel stamps when its blocks begin and end each phase, see StampPlan.
  bool profile = false;
};

/// The kernel text of a schedule for its target, with how to launch it. A pure function: the same
/// input gives the same bytes.
KernelSource lower(
    const Program& program,
    const Schedule& schedule,
    const DeviceLimits& limits,
    const LowerOptions& options = {}
);

}  // namespace whet
