#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "timing/block.hpp"

namespace whet {
namespace {

/// A sequence whose repetitions take what a script says, in ns each.
class ScriptedSequence final : public TimedSequence {
 public:
  explicit ScriptedSequence(std::vector<double> times_ns) : times_ns_(std::move(times_ns)) {}

  double time_ns(int count) override {
    num_repetitions_ += count;
    const double time_ns = times_ns_[std::min(next_, times_ns_.size() - 1)];
    ++next_;
    return time_ns * count;
  }
  TimingConditions conditions() override {
    ++num_readings_;
    return {.clock_mhz = clock_mhz_, .temperature_c = 50.0, .throttled = false};
  }

  std::vector<double> times_ns_;
  double clock_mhz_ = 0.0;
  std::size_t next_ = 0;
  int num_repetitions_ = 0;
  int num_readings_ = 0;
};

TEST(RepetitionsPerSample, FillTheShortestSample) {
  EXPECT_EQ(repetitions_per_sample(1e4, 1e6), 100);
  EXPECT_EQ(repetitions_per_sample(3e5, 1e6), 4);
  EXPECT_EQ(repetitions_per_sample(2e6, 1e6), 1);
  EXPECT_EQ(repetitions_per_sample(1e3, 0.0), 1);
}

TEST(RepetitionsPerSample, DoNotExplodeForAnAbsurdTime) {
  EXPECT_EQ(repetitions_per_sample(0.0, 1e6), 1);
  EXPECT_EQ(repetitions_per_sample(-1.0, 1e6), 1);
  EXPECT_EQ(repetitions_per_sample(std::numeric_limits<double>::quiet_NaN(), 1e6), 1);
  EXPECT_LE(repetitions_per_sample(1e-9, 1e6), 100'000);
}

TEST(MeasureBlock, DropsItsFirstRepetition) {
  ScriptedSequence sequence({9e9, 100.0});
  const TimedBlock block = measure_block(sequence, {.num_samples = 4});
  ASSERT_EQ(block.samples.size(), 4u);
  for (const TimedSample& sample : block.samples) {
    EXPECT_EQ(sample.time_ns, 100.0);
  }
}

TEST(MeasureBlock, AveragesRepetitionsUntilASampleIsLongEnough) {
  ScriptedSequence sequence({2e4});
  const TimedBlock block = measure_block(sequence, {.num_samples = 3, .min_sample_ns = 1e6});
  EXPECT_EQ(block.num_repetitions, 50);
  EXPECT_EQ(sequence.num_repetitions_, 1 + 3 * 50);
  EXPECT_EQ(block.samples.at(0).time_ns, 2e4);
}

TEST(MeasureBlock, CountsAndDropsWhatIsNoTime) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  ScriptedSequence sequence({100.0, 0.0, -0.01, nan, infinity, 100.0});
  const TimedBlock block = measure_block(sequence, {.num_samples = 6});
  EXPECT_EQ(block.num_dropped, 4);
  EXPECT_EQ(block.samples.size(), 2u);
}

TEST(MeasureBlock, EndsEarlyWhenItTakesTooLong) {
  ScriptedSequence sequence({1e9});
  const TimedBlock block = measure_block(sequence, {.num_samples = 50, .max_block_ns = 2e9});
  EXPECT_EQ(block.samples.size(), 3u);
}

TEST(MeasureBlock, ReadsTheClockAtMostOnceAMillisecond) {
  ScriptedSequence sequence({1e5});
  measure_block(sequence, {.num_samples = 40});
  EXPECT_GE(sequence.num_readings_, 4);
  EXPECT_LE(sequence.num_readings_, 5);
}

TEST(WarmUp, EndsOnceTwoWindowsAgree) {
  std::vector<double> times_ns;
  for (int i = 0; i < 20; ++i) {
    times_ns.push_back(2e6 * (1.0 + std::exp(-i)));
  }
  ScriptedSequence sequence(times_ns);
  EXPECT_TRUE(warm_up(sequence, {}));
  EXPECT_LT(sequence.next_, 20u);
}

TEST(WarmUp, SaysSoWhenNothingSettles) {
  std::vector<double> times_ns;
  for (int i = 0; i < 2000; ++i) {
    times_ns.push_back(1e6 * std::pow(1.01, i % 100));
  }
  ScriptedSequence sequence(times_ns);
  BlockPlan plan;
  plan.steady.max_total_ns = 5e7;
  EXPECT_FALSE(warm_up(sequence, plan));
}

TEST(WarmUp, EndsThoughTheClockStandsStill) {
  ScriptedSequence sequence({0.0});
  EXPECT_FALSE(warm_up(sequence, {}));
}

std::vector<TimedSample> samples_at(const std::vector<double>& times_ns, double clock_mhz) {
  std::vector<TimedSample> samples;
  for (const double time_ns : times_ns) {
    samples.push_back({.time_ns = time_ns, .conditions = {.clock_mhz = clock_mhz}});
  }
  return samples;
}

TEST(IsSteady, NeedsTwoWindows) {
  EXPECT_FALSE(is_steady(samples_at({1, 1, 1}, 0.0), {.window = 2}));
  EXPECT_TRUE(is_steady(samples_at({1, 1, 1, 1}, 0.0), {.window = 2}));
}

TEST(IsSteady, IsFalseWhileTheClockRamps) {
  std::vector<TimedSample> samples = samples_at({1, 1, 1, 1}, 1900.0);
  samples.front().conditions.clock_mhz = 1200.0;
  EXPECT_FALSE(is_steady(samples, {.window = 2}));
}

TEST(IsSteady, IgnoresOneOutlierInAWindow) {
  EXPECT_TRUE(is_steady(samples_at({1, 1, 1, 1, 90, 1}, 0.0), {.window = 3}));
}

}  // namespace
}  // namespace whet
