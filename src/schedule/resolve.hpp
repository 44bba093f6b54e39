#pragma once

#include <variant>

#include "ir/program.hpp"
#include "schedule/configuration.hpp"
#include "schedule/device_limits.hpp"
#include "schedule/schedule.hpp"
#include "schedule/search_space.hpp"

namespace whet {

/// The one function in which a Program, a Configuration and a device meet. `configuration` must be
/// a member of the SearchSpace (defaults are filled in). Gives the Schedule, or the first
/// constraint that refuses it. Throws UserError for a Program with an op that no target has.
std::variant<Schedule, ConstraintViolation> resolve(
    const Program& program, const Configuration& configuration, const DeviceLimits& limits
);

}  // namespace whet
