#pragma once

#include <vector>

#include "harness/messages.hpp"
#include "harness/reference_bundle.hpp"
#include "harness/resident_candidate.hpp"
#include "harness/validation.hpp"
#include "ir/workload.hpp"
#include "jit/executor.hpp"

namespace whet {

/// Holds a candidate against the bundles of all seeds: the whole trajectory one launch at a time,
/// the same first steps again, and those steps as a recorded replay, which is the path that is
/// timed. Ok, or BarrierHang or WrongResult with what was expected, found and where. Throws
/// DeviceFault. Precondition: steps_per_launch divides the workload's step counts.
ValidateResponse validate_candidate(
    Executor& executor,
    const Workload& workload,
    ResidentCandidate& candidate,
    const std::vector<const ReferenceBundle*>& bundles,
    const Tolerances& tolerances
);

}  // namespace whet
