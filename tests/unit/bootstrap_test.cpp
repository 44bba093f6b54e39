#include "stats/bootstrap.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/error.hpp"

namespace whet {
namespace {

constexpr std::array kTimes{12.1, 11.7, 12.4, 13.9, 12.0, 12.2, 11.9, 12.6, 12.3, 15.0, 12.1, 11.8};

TEST(BootstrapMedian, ComesNearTheLimitOfManyResamples) {
  // 200000 resamples by numpy give [11.95, 12.5].
  const Interval interval = bootstrap_median_interval(kTimes, 0.95, 4000, 1);
  EXPECT_NEAR(interval.low, 11.95, 0.051);
  EXPECT_NEAR(interval.high, 12.5, 0.051);
}

TEST(BootstrapMedian, DependsOnTheSeedAlone) {
  EXPECT_EQ(
      bootstrap_median_interval(kTimes, 0.9, 200, 7), bootstrap_median_interval(kTimes, 0.9, 200, 7)
  );
}

TEST(BootstrapMedian, IsAPointForOneSample) {
  EXPECT_EQ(bootstrap_median_interval(std::array{3.0}, 0.95, 50, 1), (Interval{3.0, 3.0}));
}

TEST(BootstrapMedian, RefusesNoSamples) {
  EXPECT_THROW(bootstrap_median_interval({}, 0.95, 50, 1), InternalError);
}

}  // namespace
}  // namespace whet
