#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "artifact/launch_plan.hpp"

namespace whet::testing {

/// Checks stamps that one clock gave: in order within a block, and no block ready for a phase
/// behind a grid edge before all have ended the phase before.
inline void check_stamps(const LaunchPlan& plan, const std::vector<std::uint64_t>& words) {
  using Slot = StampPlan::Slot;
  const StampPlan& stamps = *plan.stamps;
  const std::size_t stride = stamps.words_per_block();
  ASSERT_EQ(words.size(), static_cast<std::size_t>(plan.blocks) * stride);
  std::uint64_t last_end_before = 0;
  for (std::size_t p = 0; p < stamps.phases.size(); ++p) {
    SCOPED_TRACE("phase " + std::to_string(p + 1));
    const StampedPhase& phase = stamps.phases[p];
    std::uint64_t first_ready = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last_end = 0;
    for (std::size_t block = 0; block < words.size() / stride; ++block) {
      SCOPED_TRACE("block " + std::to_string(block));
      const std::uint64_t* const header = words.data() + block * stride;
      const auto at = [&](std::size_t of, Slot slot) {
        return header
            [StampPlan::kHeaderWords + StampPlan::kPhaseWords * of +
             static_cast<std::size_t>(slot)];
      };
      std::uint64_t before = p == 0 ? header[1] : at(p - 1, Slot::End);
      for (const Slot slot : {Slot::Begin, Slot::Wait, Slot::Ready, Slot::End}) {
        if ((slot == Slot::Wait || slot == Slot::Ready) && !phase.waits_in_tiles) {
          continue;
        }
        EXPECT_LE(before, at(p, slot)) << "stamp " << static_cast<int>(slot);
        before = at(p, slot);
      }
      first_ready = std::min(first_ready, at(p, phase.waits_in_tiles ? Slot::Ready : Slot::Begin));
      last_end = std::max(last_end, at(p, Slot::End));
    }
    if (is_between_blocks(phase.edge_before)) {
      EXPECT_LE(last_end_before, first_ready) << "a block did not wait for the others";
    }
    last_end_before = last_end;
  }
}

}  // namespace whet::testing
