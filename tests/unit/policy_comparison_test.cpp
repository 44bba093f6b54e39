#include "tuner/policy_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stats/binomial_interval.hpp"
#include "stats/mean.hpp"
#include "tuner/selector.hpp"

namespace whet {
namespace {

constexpr std::uint64_t kSeed = 20261207;

SelectionPolicy policy_named(const std::string& name) {
  for (const SelectionPolicy& policy : selection_policies()) {
    if (policy.name == name) {
      return policy;
    }
  }
  return {};
}

TEST(SimulatedTimings, AreTheSameForTheSameSeedAndStream) {
  const auto draw = [](std::uint64_t stream) {
    return SimulatedTimings({0.0, 0.1}, noise_settings().front(), kSeed, stream)
        .run_process({0, 1}, 1, 5);
  };
  EXPECT_EQ(draw(3), draw(3));
  EXPECT_NE(draw(3), draw(4));
}

TEST(SimulatedTimings, MeetTheTruthOverManyProcesses) {
  SimulatedTimings timings({0.0, 0.1}, noise_settings().front(), kSeed, 0);
  std::vector<double> ratios;
  for (int process = 0; process < 100; ++process) {
    const auto blocks = timings.run_process({0, 1}, 1, 5);
    ratios.push_back(
        blocks[1].front().samples.front().time_ns / blocks[0].front().samples.front().time_ns
    );
  }
  EXPECT_NEAR(mean(ratios), std::exp(0.1), 0.005);
  EXPECT_EQ(timings.num_samples(), 100 * 2 * 2 * 5);
}

TEST(PolicyComparison, FindsOursFalseNoMoreOftenThanStatedInAnySetting) {
  for (const PolicyTally& tally :
       compare_policies(noise_settings(), {policy_named("whet")}, 200, kSeed)) {
    EXPECT_LE(
        binomial_interval(tally.num_false_claims, tally.num_tunings, 0.95).low,
        SelectorOptions{}.alpha
    ) << tally.truth
      << ", " << tally.setting << ": " << tally.num_false_claims << ", seed " << kSeed;
  }
}

TEST(PolicyComparison, FindsThatTheLowestMinimumLeavesABaselineForItsLike) {
  const auto tallies = compare_policies(
      {noise_settings().front()}, {policy_named("lowest minimum of 100")}, 50, kSeed
  );
  ASSERT_EQ(tallies.front().truth, "identical");
  EXPECT_GT(tallies.front().num_false_claims, 40);
}

TEST(PolicyComparison, FindsThatOursTakesAClearWinner) {
  const auto tallies =
      compare_policies({noise_settings().front()}, {policy_named("whet")}, 50, kSeed);
  ASSERT_EQ(tallies.back().truth, "one winner");
  EXPECT_EQ(tallies.back().num_slow, 0);
}

/// A policy that always picks candidate 1 and claims to know.
PolicyChoice boast(SimulatedTimings&) {
  return {.pick = 1, .finalists = {0, 1}, .tie_set = {1}, .within = 0.0};
}

TEST(PolicyComparison, CountsWhatIsClaimedAndNotSo) {
  const auto tallies = compare_policies({noise_settings().front()}, {{"boast", boast}}, 40, kSeed);
  EXPECT_EQ(tallies[0].num_false_claims, 40);  // as fast as the baseline is not faster
  EXPECT_GT(tallies[1].num_false_claims, 30);  // most are slower
  EXPECT_LT(tallies[1].num_false_claims, 40);
  EXPECT_EQ(tallies[1].num_within, 40);
  EXPECT_GT(tallies[1].mean_regret, 0.0);
}

TEST(PolicyComparison, WritesATableATruth) {
  const auto tallies = compare_policies({noise_settings().front()}, {{"boast", boast}}, 2, kSeed);
  const std::string text = policies_markdown(tallies);
  for (const char* part : {"## identical", "## near ties", "## one winner", "| quiet | boast |"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(policies_document(tallies, kSeed).at("tallies").size(), 3u);
}

}  // namespace
}  // namespace whet
