#pragma once

#include <vector>

#include "timing/steady_state.hpp"
#include "timing/timed_sequence.hpp"

namespace whet {

/// How one block of samples is taken.
struct BlockPlan {
  int num_samples = 20;
  /// A sample repeats the sequence until it is at least this long: 0 on a GPU, whose events time
  /// one repetition, 1e6 on a CPU.
  double min_sample_ns = 0.0;
  /// A block stops early, but not before its third sample, once it took this long.
  double max_block_ns = 2e9;
  SteadyRule steady;

  bool operator==(const BlockPlan&) const = default;
};

/// What a block gave.
struct TimedBlock {
  std::vector<TimedSample> samples;  ///< time of one repetition of the sequence
  int num_repetitions = 1;           ///< repetitions that each sample averages
  int num_dropped = 0;               ///< samples that were not positive finite numbers
  bool steady = true;                ///< warm-up ended by agreement, not by its limit

  bool operator==(const TimedBlock&) const = default;
};

/// Repetitions a sample so that it lasts at least `min_sample_ns`.
int repetitions_per_sample(double repetition_ns, double min_sample_ns);

/// Repeats until the rule holds or its limit is reached. Says which.
bool warm_up(TimedSequence& sequence, const BlockPlan& plan);

/// Takes the samples of a block, without warm-up but for one repetition that is dropped.
TimedBlock measure_block(TimedSequence& sequence, const BlockPlan& plan);

}  // namespace whet
