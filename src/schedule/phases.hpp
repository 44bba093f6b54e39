#pragma once

#include "ir/program.hpp"
#include "schedule/schedule.hpp"
#include "schedule/tasks.hpp"

namespace whet {

/// Puts each task into the earliest phase behind all that it must wait for.
std::vector<Phase> place_in_phases(TaskGraph& graph);

/// The narrowest edge that is enough, in front of each phase and between steps.
void place_edges(Schedule& schedule);

/// Gives the buffers of a storage bytes of an arena, sharing bytes between buffers that are never
/// live in phases that are not ordered. Returns the arena's size.
std::int64_t place_in_arena(
    const std::vector<Phase>& phases, Storage storage, std::vector<Buffer>& buffers
);

/// Arena buffers start at multiples of this: a cache line, and what any vector access needs.
inline constexpr std::int64_t kArenaAlignment = 128;
inline std::int64_t in_arena(std::int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

}  // namespace whet
