#include "tuner/selector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace whet {
namespace {

Finalist named(const std::string& name) {
  Finalist finalist;
  finalist.configuration.values["name"] = name;
  finalist.deterministic = true;
  return finalist;
}

SampleBlock block_of(std::int64_t process, std::int64_t block, std::vector<double> times_ns) {
  SampleBlock result{
      .process = process, .block = block, .num_steps = 20, .purpose = "final", .samples = {}};
  for (const double time_ns : times_ns) {
    result.samples.push_back({.time_ns = time_ns});
  }
  return result;
}

/// One block of three equal samples a process.
Finalist timed(const std::string& name, const std::vector<double>& times_ns) {
  Finalist finalist = named(name);
  for (std::size_t p = 0; p < times_ns.size(); ++p) {
    const double time_ns = times_ns[p];
    finalist.blocks.push_back(block_of(static_cast<std::int64_t>(p), 0, {time_ns, time_ns, time_ns})
    );
  }
  return finalist;
}

TEST(Selector, LeavesTheBaselineWhenAFinalistIsSurelyFaster) {
  const Selection selection =
      select({timed("base", {100, 101, 99, 100}), timed("fast", {80, 81, 79.5, 80})}, 0, {});
  EXPECT_TRUE(selection.leaves_baseline);
  EXPECT_EQ(selection.pick, 1u);
  EXPECT_EQ(selection.tie_set, std::vector<std::size_t>{1});
  EXPECT_EQ(selection.num_processes, 4);
}

TEST(Selector, KeepsTheBaselineWhenTheDifferenceIsWithinNoise) {
  const Selection selection =
      select({timed("lucky", {97, 104, 95, 103}), timed("base", {100, 101, 99, 100})}, 1, {});
  EXPECT_FALSE(selection.leaves_baseline);
  EXPECT_EQ(selection.pick, 1u);
  EXPECT_EQ(selection.tie_set, (std::vector<std::size_t>{0, 1}));
}

TEST(Selector, KeepsTheBaselineWhenAllOthersAreSlower) {
  const Selection selection =
      select({timed("base", {100, 101, 99, 100}), timed("slow", {130, 131, 128, 130})}, 0, {});
  EXPECT_FALSE(selection.leaves_baseline);
  EXPECT_EQ(selection.tie_set, std::vector<std::size_t>{0});
}

TEST(Selector, DecidesNothingFromOneProcess) {
  const Selection selection = select({timed("base", {100}), timed("fast", {50})}, 0, {});
  EXPECT_FALSE(selection.leaves_baseline);
  EXPECT_EQ(selection.tie_set, (std::vector<std::size_t>{0, 1}));
}

TEST(Selector, CallsNobodyBeatenWithoutACommonProcess) {
  Finalist elsewhere = named("elsewhere");
  elsewhere.blocks = {block_of(7, 0, {50}), block_of(8, 0, {50})};
  const Selection selection = select({timed("base", {100, 100}), elsewhere}, 0, {});
  EXPECT_FALSE(selection.leaves_baseline);
  EXPECT_EQ(selection.pick, 0u);
  EXPECT_EQ(selection.tie_set, (std::vector<std::size_t>{0, 1}));
}

// Many samples of a process are one observation: its own luck does not average out.
TEST(Selector, TakesAProcessAsOneObservation) {
  Finalist base = named("base");
  Finalist lucky = named("lucky");
  for (std::int64_t block = 0; block < 50; ++block) {
    base.blocks.push_back(block_of(0, block, {100, 100, 100}));
    base.blocks.push_back(block_of(1, block, {100, 100, 100}));
    lucky.blocks.push_back(block_of(0, block, {98, 98, 98}));
    lucky.blocks.push_back(block_of(1, block, {99.5, 99.5, 99.5}));
  }
  EXPECT_FALSE(select({base, lucky}, 0, {}).leaves_baseline);
}

TEST(Selector, IsNotMovedByAnOutlierInABlock) {
  Finalist fast = timed("fast", {80, 81, 79.5, 80});
  fast.blocks[2].samples[0].time_ns = 5000.0;
  EXPECT_TRUE(select({timed("base", {100, 101, 99, 100}), fast}, 0, {}).leaves_baseline);
}

TEST(Selector, PicksTheLowestMeanOfTheTieSet) {
  const Selection selection = select(
      {timed("base", {100, 101, 99, 100}),
       timed("a", {72, 76, 71, 75}),
       timed("b", {70, 73, 73, 70})},
      0,
      {}
  );
  ASSERT_EQ(selection.tie_set, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(selection.pick, 2u);
}

TEST(Selector, OrdersWhatIsWithinTheIndifferenceByDeterminismRegistersAndText) {
  std::vector<Finalist> finalists{
      timed("base", {100, 101, 99, 100}),
      timed("z", {70.0, 70.2, 70.1, 70.3}),
      timed("y", {70.1, 70.1, 70.2, 70.2}),
      timed("x", {70.2, 70.0, 70.3, 70.1})};
  ASSERT_EQ(select(finalists, 0, {}).tie_set, (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(select(finalists, 0, {}).pick, 3u);
  finalists[3].resources.registers = 64;
  EXPECT_EQ(select(finalists, 0, {}).pick, 2u);
  finalists[2].deterministic = false;
  EXPECT_EQ(select(finalists, 0, {}).pick, 1u);
}

// Shown by the first: 0.5 % in each process. The baseline comes first in the fixed order.
TEST(Selector, NeverUsesTheBaselineThatItFoundBeaten) {
  const std::vector<double> base{100, 102, 99, 101, 100, 98};
  std::vector<Finalist> finalists{timed("a base", base)};
  const std::vector<double> noise{0.0015, -0.0015, 0.0005, -0.0005, 0.001, -0.001};
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<double> times;
    for (std::size_t p = 0; p < base.size(); ++p) {
      times.push_back(base[p] * (0.9955 + noise[(p + i) % noise.size()]));
    }
    finalists.push_back(timed(std::string(1, static_cast<char>('b' + i)), times));
  }
  const Selection selection = select(finalists, 0, {});
  ASSERT_TRUE(selection.leaves_baseline);
  EXPECT_NE(selection.pick, 0u);
}

// "Use" says that the pick is faster, so a lower mean that was not shown to be is no pick.
TEST(Selector, PicksOnlyWhatItselfBeatsTheBaseline) {
  const Selection selection = select(
      {timed("base", {100, 101, 99, 100}),
       timed("sure", {95, 96.1, 94, 95.1}),
       timed("wild", {70, 120, 75, 115})},
      0,
      {}
  );
  ASSERT_TRUE(selection.leaves_baseline);
  ASSERT_LT(selection.mean_log_ratio[2], selection.mean_log_ratio[1]);
  EXPECT_EQ(selection.pick, 1u);
}

TEST(Selector, SaysHowFarThePickMayBeFromTheFastest) {
  const auto within = [](const std::vector<double>& rival) {
    return select(
               {timed("base", {100, 101, 99, 100}),
                timed("a", {70, 71, 69.5, 70}),
                timed("b", rival)},
               0,
               {}
    )
        .within;
  };
  EXPECT_EQ(within({90, 91, 89.5, 90}), 0.0);  // the tie set is the pick alone
  const auto close = within({70.1, 71.0, 69.6, 70.1});
  ASSERT_TRUE(close.has_value());
  EXPECT_LT(*close, 0.01);
  const auto scattered = within({72, 69, 73, 68});
  ASSERT_TRUE(scattered.has_value());
  EXPECT_GT(*scattered, 0.01);
}

TEST(Selector, ClaimsNothingFromOneProcess) {
  EXPECT_EQ(select({timed("base", {100}), timed("fast", {50})}, 0, {}).within, std::nullopt);
}

TEST(Selector, IsNoSurerThanTheNoiseOfTheDeviceAllows) {
  const std::vector<Finalist> finalists{
      timed("a", {1000, 1001, 1000, 1001}), timed("b", {980, 981, 980, 981})};
  EXPECT_TRUE(select(finalists, 0, {}).leaves_baseline);
  const Selection selection = select(finalists, 0, {.process_sd = 0.02});
  EXPECT_FALSE(selection.leaves_baseline);
  EXPECT_GT(selection.within.value(), 0.05);
}

TEST(Selector, FindsAPeerFasterOnlyWhenItSurelyIs) {
  const std::vector<SampleBlock> ours = timed("ours", {100, 101, 99, 100}).blocks;
  EXPECT_TRUE(surely_faster(timed("peer", {80, 81, 79.5, 80}).blocks, ours, 0.05));
  EXPECT_FALSE(surely_faster(timed("peer", {97, 104, 95, 103}).blocks, ours, 0.05));
  EXPECT_FALSE(surely_faster(timed("peer", {50}).blocks, ours, 0.05));
}

TEST(Summarize, GivesTheMedianProcessAndATInterval) {
  const auto time_ns = summarize(timed("a", {100, 102, 99, 101}).blocks, 0.05);
  ASSERT_TRUE(time_ns.has_value());
  // exp of scipy's t.interval(0.95, 3, mean, sem) of the logs.
  EXPECT_NEAR(time_ns->median, std::sqrt(100.0 * 101.0), 1e-9);
  EXPECT_NEAR(time_ns->low, 98.46034275684941, 1e-6);
  EXPECT_NEAR(time_ns->high, 102.56921383495401, 1e-6);
}

TEST(Summarize, HasNoIntervalFromOneProcessAndNothingFromNone) {
  const auto time_ns = summarize(timed("a", {100}).blocks, 0.05);
  ASSERT_TRUE(time_ns.has_value());
  EXPECT_EQ(time_ns->low, time_ns->high);
  EXPECT_EQ(summarize({}, 0.05), std::nullopt);
}

TEST(Selector, RefusesABaselineThatIsNoFinalist) {
  EXPECT_THROW(select({}, 0, {}), InternalError);
  EXPECT_THROW(select({timed("base", {100, 100})}, 1, {}), InternalError);
}

}  // namespace
}  // namespace whet
