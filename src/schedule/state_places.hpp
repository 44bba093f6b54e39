#pragma once

#include "ir/program.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// Brings the state of a schedule with one block into its shared memory for the time of a launch,
/// as far as it is dense and if it fits; copies of state too. With `in_registers`, state that only
/// one product's epilogue reads and writes stays in the registers of the threads that do, instead.
void keep_state(
    const Program& program, const DeviceLimits& limits, bool in_registers, Schedule& schedule
);

/// Whether a launch begins by bringing state to where it keeps it.
bool keeps_state(const Schedule& schedule);

/// Whether launches hand on copies of state, which must follow state that others write.
bool has_persistent_shadows(const Schedule& schedule);

/// The buffers that a task holds in registers, in the order of their words.
std::vector<int> held_buffers(const Schedule& schedule, const Task& task);

/// Registers of a thread for one tile of what the task holds.
std::int64_t held_words_of_tile(const Schedule& schedule, const Task& task);

}  // namespace whet
