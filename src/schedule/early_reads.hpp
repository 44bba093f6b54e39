#pragma once

#include "schedule/schedule.hpp"

namespace whet {

/// Marks what products read straight into registers and the phase before theirs does not write:
/// such reads may be under way while a block waits for the others. Buffers have their places.
void mark_early_reads(Schedule& schedule);

/// Whether a task of the phase has a read so marked.
bool reads_early(const Phase& phase);

}  // namespace whet
