#pragma once

#include <span>

#include "timing/timed_sequence.hpp"

namespace whet {

/// One timing with the conditions under which it was taken. The unit of `time_ns` is the caller's:
/// one repetition, or one step.
struct TimedSample {
  double time_ns = 0.0;
  TimingConditions conditions;

  bool operator==(const TimedSample&) const = default;
};

/// When warm-up may end.
struct SteadyRule {
  int window = 5;                 ///< samples a window; two windows are compared
  double time_tolerance = 0.02;   ///< relative difference of the windows' medians
  double clock_tolerance = 0.01;  ///< relative spread of the clock over both windows
  double min_total_ns = 2e6;      ///< caches and predictors see at least this much work
  double max_total_ns = 1e9;      ///< then sampling starts anyhow, and is marked not steady

  bool operator==(const SteadyRule&) const = default;
};

/// Whether the last two windows of `samples` agree: their medians within the tolerance, and the
/// clock, where it is read, did not move over both.
bool is_steady(std::span<const TimedSample> samples, const SteadyRule& rule);

}  // namespace whet
