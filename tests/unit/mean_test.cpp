#include "stats/mean.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/error.hpp"
#include "stats/median_absolute_deviation.hpp"

namespace whet {
namespace {

constexpr std::array kTimes{10.1, 10.4, 9.8, 10.9, 10.2, 10.0, 11.3};

TEST(Mean, AgreesWithNumpy) { EXPECT_DOUBLE_EQ(mean(kTimes), 10.385714285714286); }

TEST(Mean, RefusesNoSamples) { EXPECT_THROW(mean({}), InternalError); }

TEST(StandardDeviation, DividesByOneLessThanTheCount) {
  EXPECT_NEAR(standard_deviation(kTimes), 0.5336308693862313, 1e-15);
}

TEST(StandardDeviation, SurvivesALargeOffset) {
  EXPECT_DOUBLE_EQ(standard_deviation(std::array{1e9 + 1, 1e9 + 2, 1e9 + 3}), 1.0);
}

TEST(StandardDeviation, RefusesOneSample) {
  EXPECT_THROW(standard_deviation(std::array{1.0}), InternalError);
}

TEST(MedianAbsoluteDeviation, AgreesWithScipy) {
  EXPECT_NEAR(median_absolute_deviation(kTimes), 0.2, 1e-14);
}

TEST(MedianAbsoluteDeviation, IsNotMovedByAnOutlier) {
  EXPECT_DOUBLE_EQ(median_absolute_deviation(std::array{1.0, 2.0, 3.0, 4.0, 1e6}), 1.0);
}

}  // namespace
}  // namespace whet
