#pragma once

#include "schedule/schedule.hpp"

namespace whet {

/// How a buffer's rows lie; one row if there is nothing to tell apart.
struct RowPitch {
  std::int64_t row_elements = 0;
  std::int64_t pitch_elements = 0;
};

/// Moves the rows of a buffer that will be in shared memory apart, so that what a warp reads of
/// several rows at once lies in different banks: 32 of them serve 4 bytes each a cycle. Leaves a
/// buffer as it is if no product reads rows of it, its rows do not meet in banks, or an access
/// crosses the end of a row.
RowPitch pad_rows(Schedule& schedule, int buffer);

}  // namespace whet
