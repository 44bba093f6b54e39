#pragma once

#include "harness/messages.hpp"
#include "harness/reference_bundle.hpp"
#include "harness/resident_candidate.hpp"
#include "jit/executor.hpp"

namespace whet {

/// Replays warm sequences of a profile build, as they are timed, and takes the stamps of the last
/// launch of each. Throws DeviceFault; a barrier that was given up on ends with BarrierHang.
TimelineResponse record_timeline(
    Executor& executor,
    ResidentCandidate& candidate,
    const TimelineRequest& request,
    const ReferenceBundle& bundle
);

}  // namespace whet
