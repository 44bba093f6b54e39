#include "harness/stamped_launches.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace whet {
namespace {

/// Two phases with a grid barrier between; the second's tiles wait for it if `waits_in_tiles`.
LaunchPlan two_phases(Target target, int blocks, bool waits_in_tiles = false) {
  LaunchPlan plan;
  plan.target = target;
  plan.blocks = blocks;
  plan.stamps = StampPlan{
      .offset_bytes = 0,
      .phases = {
          {.tasks = {"mm1.fwd"}},
          {.tasks = {"mm2.fwd", "map1"},
           .edge_before = Edge::Grid,
           .waits_in_tiles = waits_in_tiles}}};
  return plan;
}

/// A block's words: the header, then the two phases. What is not written is garbage.
StampWords block_words(
    std::uint64_t wall,
    std::uint64_t enter,
    std::uint64_t processor,
    std::vector<std::uint64_t> first,
    std::vector<std::uint64_t> second
) {
  constexpr std::uint64_t kGarbage = ~0ull;
  StampWords words{wall, enter, processor, first.at(0), kGarbage, kGarbage, first.at(1)};
  if (second.size() == 2) {
    second = {second[0], kGarbage, kGarbage, second[1]};
  }
  words.insert(words.end(), second.begin(), second.end());
  return words;
}

StampWords together(StampWords a, const StampWords& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(StampedLaunches, OfTheCpuAreNanosecondsFromTheFirstEntry) {
  const LaunchPlan plan = two_phases(Target::Cpu, 2);
  const StampWords words = together(
      block_words(1000, 1005, 0, {1010, 1100}, {1200, 1300}),
      block_words(1000, 1001, 1, {1020, 1150}, {1190, 1250})
  );

  const Timeline timeline = make_timeline(plan, {words}, 0.0);

  EXPECT_EQ(timeline.blocks[0].enter_ns, 4.0);
  EXPECT_EQ(timeline.blocks[1].enter_ns, 0.0);
  EXPECT_EQ(timeline.blocks[0].phases[0], (BlockPhase{9.0, 9.0, 9.0, 99.0}));
  EXPECT_EQ(timeline.blocks[1].phases[1], (BlockPhase{189.0, 189.0, 189.0, 249.0}));
  EXPECT_EQ(timeline.phases[0].edge, "launch");
  EXPECT_EQ(timeline.phases[1].edge, "grid");
  EXPECT_EQ(timeline.phases[1].tasks, (std::vector<std::string>{"mm2.fwd", "map1"}));
}

TEST(StampedLaunches, SayWhereTilesWaited) {
  const LaunchPlan plan = two_phases(Target::Cpu, 1, true);

  const Timeline timeline = make_timeline(plan, {block_words(0, 0, 0, {1, 2}, {3, 5, 8, 9})}, 0.0);

  EXPECT_EQ(timeline.blocks[0].phases[1], (BlockPhase{3.0, 5.0, 8.0, 9.0}));
}

TEST(StampedLaunches, AreTheMedianOverLaunches) {
  const LaunchPlan plan = two_phases(Target::Cpu, 1);
  std::vector<StampWords> launches;
  for (const std::uint64_t end : {100, 900, 110}) {
    launches.push_back(block_words(0, 0, 0, {1, 2}, {3, end}));
  }

  const Timeline timeline = make_timeline(plan, launches, 0.0);

  EXPECT_EQ(timeline.blocks[0].phases[1].end_ns, 110.0);
  EXPECT_EQ(timeline.num_launches, 3);
}

/// Two SMs at 2 cycles a ns whose counters are 5000 apart; the second enters 64 ns later.
std::vector<StampWords> gpu_launches(std::uint64_t wall_tick) {
  std::vector<StampWords> launches;
  for (const std::uint64_t start : {0ull, 1'000'000ull}) {
    const auto wall = [&](std::uint64_t time_ns) { return time_ns / wall_tick * wall_tick; };
    launches.push_back(together(
        block_words(
            wall(start),
            2 * start,
            7,
            {2 * start + 2, 2 * start + 400},
            {2 * start + 600, 2 * start + 800}
        ),
        block_words(
            wall(start + 64),
            5128 + 2 * start,
            9,
            {2 * start + 5130, 2 * start + 5400},
            {2 * start + 5600, 2 * start + 5900}
        )
    ));
  }
  return launches;
}

TEST(StampedLaunches, PutSmsTogetherByAWallClockThatTicksFinely) {
  const Timeline timeline = make_timeline(two_phases(Target::Cuda, 2), gpu_launches(32), 0.0);

  EXPECT_DOUBLE_EQ(timeline.blocks[1].enter_ns, 64.0);
  EXPECT_DOUBLE_EQ(timeline.blocks[0].phases[1].begin_ns, 300.0);
  EXPECT_DOUBLE_EQ(timeline.blocks[1].phases[1].end_ns, 450.0);
  EXPECT_EQ(timeline.blocks[1].processor, 9);
  EXPECT_NE(timeline.alignment.find("%globaltimer"), std::string::npos) << timeline.alignment;
}

TEST(StampedLaunches, PutSmsTogetherByABarrierWhereTheWallClockIsCoarse) {
  const Timeline timeline = make_timeline(two_phases(Target::Cuda, 2), gpu_launches(1000), 0.0);

  EXPECT_DOUBLE_EQ(timeline.blocks[0].phases[1].begin_ns, timeline.blocks[1].phases[1].begin_ns);
  EXPECT_DOUBLE_EQ(timeline.blocks[1].enter_ns, 64.0);
  EXPECT_NE(timeline.alignment.find("phase 2"), std::string::npos) << timeline.alignment;
}

TEST(StampedLaunches, CompareTheClocksOfLaunchesOnTheSameSm) {
  const LaunchPlan plan = two_phases(Target::Cuda, 1);
  const std::vector<StampWords> launches{
      block_words(0, 0, 1, {2, 400}, {600, 800}),
      block_words(1000, 2000, 1, {2002, 2400}, {2600, 2800}),
      block_words(2000, 77, 3, {79, 477}, {677, 877})};

  EXPECT_DOUBLE_EQ(make_timeline(plan, launches, 0.0).blocks[0].phases[1].end_ns, 400.0);
}

TEST(StampedLaunches, TakeTheDriversClockWhereNoBlockKeepsItsSm) {
  const LaunchPlan plan = two_phases(Target::Cuda, 1);
  const std::vector<StampWords> launches{block_words(0, 0, 1, {0, 400}, {600, 800})};

  EXPECT_DOUBLE_EQ(make_timeline(plan, launches, 2000.0).blocks[0].phases[1].end_ns, 400.0);
  EXPECT_THROW(make_timeline(plan, launches, 0.0), EnvironmentError);
}

}  // namespace
}  // namespace whet
