#include "report/axis.hpp"

#include <gtest/gtest.h>

#include <array>

namespace whet {
namespace {

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> names;
  for (const Tick& tick : ticks) {
    names.push_back(tick.label);
  }
  return names;
}

TEST(Axis, StepsAreRound) {
  EXPECT_DOUBLE_EQ(axis_step(8910.0), 1000.0);
  EXPECT_DOUBLE_EQ(axis_step(0.13), 0.02);
  EXPECT_DOUBLE_EQ(axis_step(100.0), 10.0);
}

TEST(Axis, IsLogarithmicOnlyWhereTimesLieFarApart) {
  EXPECT_FALSE(time_axis(std::array{1000.0, 2000.0}).is_log);
  EXPECT_TRUE(time_axis(std::array{1000.0, 800'000.0}).is_log);
  EXPECT_FALSE(linear_axis(std::array{1000.0, 800'000.0}).is_log);
}

TEST(Axis, HasWidthForOneTimeAndForNone) {
  const Axis one = time_axis(std::array{1000.0});

  EXPECT_DOUBLE_EQ(position(one, 1000.0), 0.5);
  EXPECT_LT(time_axis({}).low, time_axis({}).high);
}

TEST(Axis, PutsWhatIsBeyondAtItsEnds) {
  const Axis axis{.low = 1.0, .high = 100.0, .is_log = true};

  EXPECT_DOUBLE_EQ(position(axis, 10.0), 0.5);
  EXPECT_DOUBLE_EQ(position(axis, -5.0), 0.0);
  EXPECT_DOUBLE_EQ(position(axis, 1e9), 1.0);
}

TEST(TimeTicks, DifferInTheirLabels) {
  EXPECT_EQ(
      labels(time_ticks({.low = 999.5, .high = 1004.5}, 5.0)),
      (std::vector<std::string>{"1.000 µs", "1.001 µs", "1.002 µs", "1.003 µs", "1.004 µs"})
  );
}

TEST(TimeTicks, OfALogarithmicAxisChangeUnits) {
  EXPECT_EQ(
      labels(time_ticks({.low = 450.0, .high = 5500.0, .is_log = true})),
      (std::vector<std::string>{"500 ns", "1 µs", "2 µs", "5 µs"})
  );
}

TEST(CountTicks, AreWholeNumbers) {
  EXPECT_EQ(
      labels(count_ticks({.low = 0.0, .high = 4.0})),
      (std::vector<std::string>{"0", "1", "2", "3", "4"})
  );
}

}  // namespace
}  // namespace whet
