#include "tuner/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "stats/binomial_interval.hpp"
#include "tuner/simulated_timings.hpp"

namespace whet {
namespace {

constexpr std::uint64_t kSeed = 20261208;

ComparedTimes compare_simulated(double log_ratio, const NoiseSetting& setting, std::uint64_t run) {
  SimulatedTimings timings({0.0, log_ratio}, setting, kSeed, run);
  ComparedBlocks blocks;
  return compare_by_looks(
      [&](int num_processes) {
        for (int process = 0; process < num_processes; ++process) {
          const auto measured = timings.run_process({0, 1}, 2, 50);
          blocks.base.insert(blocks.base.end(), measured[0].begin(), measured[0].end());
          blocks.candidate.insert(blocks.candidate.end(), measured[1].begin(), measured[1].end());
        }
        return blocks;
      },
      {}
  );
}

/// How often each verdict is given.
std::map<Comparison, int> verdicts(double log_ratio, const NoiseSetting& setting, int num_runs) {
  std::map<Comparison, int> counts;
  for (int run = 0; run < num_runs; ++run) {
    ++counts[compare_simulated(log_ratio, setting, static_cast<std::uint64_t>(run)).verdict];
  }
  return counts;
}

const NoiseSetting& quiet() { return noise_settings().front(); }

TEST(Comparison, FindsWhatIsFarApartAtTheFirstLook) {
  const ComparedTimes faster = compare_simulated(-0.2, quiet(), 0);
  EXPECT_EQ(faster.verdict, Comparison::Faster);
  EXPECT_EQ(faster.num_processes, looks().front().num_processes);
  EXPECT_NEAR(faster.ratio, std::exp(-0.2), 0.01);
  EXPECT_LT(faster.low, faster.ratio);
  EXPECT_GT(faster.high, faster.ratio);
  EXPECT_EQ(compare_simulated(0.2, quiet(), 0).verdict, Comparison::Slower);
}

TEST(Comparison, CallsEqualsTheSameOnAQuietDevice) {
  EXPECT_GE(verdicts(0.0, quiet(), 50)[Comparison::Same], 49);
}

TEST(Comparison, IsUndecidedWhereNoiseHidesTheDifference) {
  const NoiseSetting& noisy = noise_settings()[2];
  EXPECT_GE(verdicts(0.002, noisy, 20)[Comparison::Undecided], 15);
}

TEST(Comparison, IsSeldomFalse) {
  constexpr int kNumRuns = 120;
  const double alpha = SelectorOptions{}.alpha;
  for (const NoiseSetting& setting : noise_settings()) {
    auto equal = verdicts(0.0, setting, kNumRuns);
    const int false_claims = equal[Comparison::Faster] + equal[Comparison::Slower];
    EXPECT_LE(binomial_interval(false_claims, kNumRuns, 0.95).low, alpha) << setting.name;
    // Just beyond the indifference: neither the same nor slower.
    auto faster = verdicts(-0.0105, setting, kNumRuns);
    const int wrong = faster[Comparison::Same] + faster[Comparison::Slower];
    EXPECT_LE(binomial_interval(wrong, kNumRuns, 0.95).low, alpha) << setting.name;
  }
}

TEST(Comparison, OfOneProcessSaysNothing) {
  SimulatedTimings timings({0.0, 0.5}, quiet(), kSeed, 0);
  const auto measured = timings.run_process({0, 1}, 2, 5);
  const ComparedTimes compared = compare_by_looks(
      [&](int) {
        return ComparedBlocks{measured[0], measured[1]};
      },
      {}
  );
  EXPECT_EQ(compared.verdict, Comparison::Undecided);
  EXPECT_EQ(compared.num_processes, 1);
  EXPECT_TRUE(std::isinf(compared.high));
}

}  // namespace
}  // namespace whet
