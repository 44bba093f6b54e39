#pragma once

#include <cstdint>

#include "schedule/schedule.hpp"

namespace whet {

/// The most neighbouring lanes of a warp that share the K of a product.
constexpr std::int64_t kMaxKLanes = 16;

/// Cycles of a multiprocessor's path to L1 and shared memory that a team of `threads` takes for a
/// direct tile by plain fma, and its wait where partial sums meet.
std::int64_t access_cycles(const Schedule& schedule, const Task& task, std::int64_t threads);

/// Of `parts` of a direct tile's K, a power of two, how many lie side by side in the lanes of a
/// warp; the others are K groups. As takes the fewest access_cycles(), at most `most`.
std::int64_t fit_k_lanes(
    const Schedule& schedule, Task task, std::int64_t parts, std::int64_t most
);

}  // namespace whet
