#pragma once

#include <cstdint>
#include <vector>

#include "artifact/launch_plan.hpp"
#include "evaluation/timeline.hpp"

namespace whet {

/// What one launch of a profile build left: StampPlan::words_per_block() for each block.
using StampWords = std::vector<std::uint64_t>;

/// The timeline that the stamps of several launches give: the median of each stamp.
///
/// On a GPU stamps are cycles, fine but counted by each SM from a start of its own. What a cycle
/// lasts follows from a block's readings of both clocks in the first launch and the latest on the
/// same SM; for want of one, from `clock_mhz`. Blocks are put together by their reading of
/// %globaltimer where that ticks finely; where it does not (PTX leaves its rate to the GPU), by the
/// release of a grid barrier, which blocks see within a poll of each other. A tick is the smallest
/// step between any two readings.
///
/// `plan` has stamps. Throws EnvironmentError when nothing tells what a cycle lasts.
Timeline make_timeline(
    const LaunchPlan& plan, const std::vector<StampWords>& launches, double clock_mhz
);

}  // namespace whet
