#pragma once

#include <cstddef>
#include <vector>

#include "jit/executor.hpp"

namespace whet {

/// The argument block of a launch as LaunchPlan states it. Throws InternalError when the number of
/// tensors is not the plan's.
std::vector<std::byte> argument_block(const StepArguments& arguments, const LaunchPlan& plan);

}  // namespace whet
