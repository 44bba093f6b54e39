#pragma once

#include "base/json.hpp"
#include "cli/environment.hpp"
#include "cli/workload_choice.hpp"
#include "schedule/device_limits.hpp"
#include "store/match.hpp"

namespace whet {

/// What decides whether a record is about this workload on this device.
LookupKey lookup_key(
    const WorkloadChoice& workload, const DeviceLimits& limits, const Environment& environment
);

/// Versions of what makes a kernel here: whet, and the compiler of the target. LibTorch's and the
/// driver's are known only to a session. Throws nothing: what is not there has no version.
Json generating_versions(Target target);

}  // namespace whet
