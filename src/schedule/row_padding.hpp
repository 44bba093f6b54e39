#pragma once

#include "schedule/schedule.hpp"

namespace whet {

/// Moves the rows of a buffer that will be in shared memory apart, so that what a warp reads of
/// several rows at once lies in different banks: 32 of them serve 4 bytes each a cycle. Leaves a
/// buffer as it is if no product reads rows of it, its rows do not meet in banks, or an access
/// crosses the end of a row.
void pad_rows(Schedule& schedule, int buffer);

}  // namespace whet
