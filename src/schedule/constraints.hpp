#pragma once

#include <optional>

#include "schedule/device_limits.hpp"
#include "schedule/schedule.hpp"
#include "schedule/search_space.hpp"

namespace whet {

/// The first named constraint that a schedule breaks on a device, before anything is compiled.
std::optional<ConstraintViolation> first_violation(
    const Schedule& schedule, const DeviceLimits& limits
);

}  // namespace whet
