#include "timing/block.hpp"

#include <algorithm>
#include <cmath>

namespace whet {
namespace {

/// Reading a clock costs up to a millisecond on a GPU: shorter samples share one reading.
constexpr double kMinReadingIntervalNs = 1e6;
/// A sample that claims to be shorter than this is repeated no more often than for this length.
constexpr double kShortestRepetitionNs = 10.0;
constexpr int kMinSamples = 3;

bool is_usable(double time_ns) { return std::isfinite(time_ns) && time_ns > 0.0; }

/// Takes samples, and reads the conditions as often as they may change.
class Sampler {
 public:
  Sampler(TimedSequence& sequence, int num_repetitions)
      : sequence_(sequence), num_repetitions_(num_repetitions) {}

  TimedSample next() {
    const double time_ns = sequence_.time_ns(num_repetitions_);
    since_reading_ns_ += is_usable(time_ns) ? time_ns : 0.0;
    if (!has_reading_ || since_reading_ns_ >= kMinReadingIntervalNs) {
      reading_ = sequence_.conditions();
      has_reading_ = true;
      since_reading_ns_ = 0.0;
    }
    return {.time_ns = time_ns / num_repetitions_, .conditions = reading_};
  }

 private:
  TimedSequence& sequence_;
  int num_repetitions_;
  TimingConditions reading_;
  bool has_reading_ = false;
  double since_reading_ns_ = 0.0;
};

}  // namespace

int repetitions_per_sample(double repetition_ns, double min_sample_ns) {
  const double length_ns =
      is_usable(repetition_ns) ? std::max(repetition_ns, kShortestRepetitionNs) : min_sample_ns;
  if (min_sample_ns <= length_ns) {
    return 1;
  }
  return static_cast<int>(std::ceil(min_sample_ns / length_ns));
}

bool warm_up(TimedSequence& sequence, const BlockPlan& plan) {
  const double first_ns = sequence.time_ns(1);
  const int num_repetitions = repetitions_per_sample(first_ns, plan.min_sample_ns);
  Sampler sampler(sequence, num_repetitions);
  std::vector<TimedSample> samples;
  double total_ns = is_usable(first_ns) ? first_ns : 0.0;
  // A clock that stands still must not turn warm-up into an endless loop.
  const std::size_t max_samples = 100'000;
  while (total_ns < plan.steady.max_total_ns && samples.size() < max_samples) {
    samples.push_back(sampler.next());
    const double sample_ns = samples.back().time_ns * num_repetitions;
    total_ns += is_usable(sample_ns) ? sample_ns : 0.0;
    if (total_ns >= plan.steady.min_total_ns && is_steady(samples, plan.steady)) {
      return true;
    }
  }
  return false;
}

TimedBlock measure_block(TimedSequence& sequence, const BlockPlan& plan) {
  TimedBlock block;
  const double first_ns = sequence.time_ns(1);
  block.num_repetitions = repetitions_per_sample(first_ns, plan.min_sample_ns);
  Sampler sampler(sequence, block.num_repetitions);
  double total_ns = 0.0;
  for (int sample_idx = 0; sample_idx < plan.num_samples; ++sample_idx) {
    const TimedSample sample = sampler.next();
    if (!is_usable(sample.time_ns)) {
      ++block.num_dropped;
      continue;
    }
    block.samples.push_back(sample);
    total_ns += sample.time_ns * block.num_repetitions;
    if (total_ns > plan.max_block_ns && sample_idx + 1 >= kMinSamples) {
      break;
    }
  }
  return block;
}

}  // namespace whet
