#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/simulated_timings.hpp"

namespace whet {

/// What a policy makes of candidates of which the first is the baseline.
struct PolicyChoice {
  std::size_t pick = 0;
  std::vector<std::size_t> finalists;  ///< whose fastest `tie_set` is said to hold; else empty
  std::vector<std::size_t> tie_set;
  std::optional<double> within;  ///< the pick is said to be so near the fastest finalist
};

/// A way to choose from timings.
struct SelectionPolicy {
  const char* name = "";
  PolicyChoice (*choose)(SimulatedTimings& timings) = nullptr;
};

/// Ours, as a session does it with its default options, and five that are in use: the lowest
/// minimum, the lowest mean of 7, the lowest median of 7, a candidate whose slow times are 3 %
/// below the fast ones of what was best so far, and finalists interleaved in one process.
const std::vector<SelectionPolicy>& selection_policies();

}  // namespace whet
