#pragma once

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"
#include "cli/workload_choice.hpp"
#include "harness/evaluator.hpp"

namespace whet {

/// How candidates of `workload` are compiled, validated and measured on `device`, with the child
/// programs that lie beside this one. Throws EnvironmentError for a folder that is not there.
EvaluatorOptions evaluator_options(
    const WorkloadChoice& workload, const DeviceChoice& device, const Environment& environment
);

}  // namespace whet
