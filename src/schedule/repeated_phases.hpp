#pragma once

#include "schedule/schedule.hpp"

namespace whet {

/// Marks phases that every block computes for itself, each with a copy in its shared memory of what
/// they store: where a phase is cheap, a barrier between blocks behind it costs more than the
/// repetition. Tasks of the phase behind it that write what it reads move one phase on. Buffers
/// that only such phases store become Shared; they have no place yet. For schedules of several
/// blocks on a GPU.
void repeat_cheap_phases(Schedule& schedule);

}  // namespace whet
