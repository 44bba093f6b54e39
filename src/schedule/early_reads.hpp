#pragma once

#include "schedule/schedule.hpp"

namespace whet {

/// Marks what products read straight into registers and the phase before theirs does not write:
/// such reads may be under way while a block waits for the others. In front of a launch that
/// overlaps the one before it, that is what is stable. One block, which waits for nobody, brings
/// what its later phases are the first to touch to its L1 instead, if that leaves it within its
/// shared memory.
void mark_early_reads(const Program& program, const DeviceLimits& limits, Schedule& schedule);

/// Shared memory where what is warmed goes, besides to L1: a word a thread.
std::int64_t warming_bytes(const Schedule& schedule);

/// Whether a task of the phase has a read so marked.
bool reads_early(const Phase& phase);

}  // namespace whet
