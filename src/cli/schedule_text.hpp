#pragma once

#include <string>

#include "schedule/schedule.hpp"

namespace whet {

/// Phases, tasks, tiles, buffers and edges for `whet show --schedule`.
std::string describe_schedule(const Schedule& schedule);

}  // namespace whet
