#include "stats/quantile.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/error.hpp"

namespace whet {
namespace {

constexpr std::array kTimes{10.1, 10.4, 9.8, 10.9, 10.2, 10.0, 11.3};

TEST(Quantile, InterpolatesLikeNumpy) {
  EXPECT_DOUBLE_EQ(quantile(kTimes, 0.0), 9.8);
  EXPECT_DOUBLE_EQ(quantile(kTimes, 0.1), 9.92);
  EXPECT_DOUBLE_EQ(quantile(kTimes, 0.8), 10.8);
  EXPECT_DOUBLE_EQ(quantile(kTimes, 1.0), 11.3);
}

TEST(Quantile, IsTheSampleItselfWhenThereIsOne) {
  EXPECT_DOUBLE_EQ(quantile(std::array{4.5}, 0.3), 4.5);
}

TEST(Quantile, RefusesNoSamples) { EXPECT_THROW(quantile({}, 0.5), InternalError); }

TEST(Quantile, RefusesAFractionOutsideTheUnitInterval) {
  EXPECT_THROW(quantile(kTimes, 1.01), InternalError);
}

TEST(Median, IsTheMiddleOfAnOddCount) { EXPECT_DOUBLE_EQ(median(kTimes), 10.2); }

TEST(Median, IsTheMeanOfTheMiddleTwoOfAnEvenCount) {
  EXPECT_DOUBLE_EQ(median(std::span(kTimes).first(4)), 10.25);
}

}  // namespace
}  // namespace whet
