#pragma once

#include <optional>

#include "artifact/launch_plan.hpp"
#include "evaluation/evaluation.hpp"
#include "harness/messages.hpp"
#include "ir/workload.hpp"
#include "schedule/device_limits.hpp"
#include "schedule/search_space.hpp"

namespace whet {

/// The way of one candidate from its knobs to an artifact: resolve, verify, lower, compile, check
/// the resources. A bug of ours ends it as CompileFailed, "our bug: …". Throws UserError for a
/// Program that no target can run and EnvironmentError when there is no compiler.
CompileResponse compile_candidate(const Workload& workload, const CompileRequest& request);

/// Why steps_per_launch cannot be validated: state is compared where a launch ends, so it divides
/// both step counts of the workload.
std::optional<ConstraintViolation> check_steps_per_launch(
    const Validation& validation, int steps_per_launch
);

/// What the compiled code needs against what the GPU has: registers, shared memory, blocks resident
/// at once. Nothing to check on other targets.
std::optional<ConstraintViolation> check_resources(
    const LaunchPlan& plan, const Resources& resources, const DeviceLimits& limits
);

}  // namespace whet
