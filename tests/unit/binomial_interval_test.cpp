#include "stats/binomial_interval.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace whet {
namespace {

// Expected values are those of scipy 1.17.

TEST(BinomialInterval, AgreesWithScipy) {
  const Interval few = binomial_interval(4, 400, 0.95);
  EXPECT_NEAR(few.low, 0.00273119597124257, 1e-14);
  EXPECT_NEAR(few.high, 0.025404800907336204, 1e-14);
  const Interval some = binomial_interval(7, 20, 0.9);
  EXPECT_NEAR(some.low, 0.17731091757446915, 1e-13);
  EXPECT_NEAR(some.high, 0.5580345113154889, 1e-13);
}

TEST(BinomialInterval, StartsAtZeroWithoutASuccess) {
  const Interval none = binomial_interval(0, 400, 0.95);
  EXPECT_EQ(none.low, 0.0);
  EXPECT_NEAR(none.high, 0.009179804583673406, 1e-14);
}

TEST(BinomialInterval, EndsAtOneWithoutAFailure) {
  const Interval all = binomial_interval(400, 400, 0.99);
  EXPECT_NEAR(all.low, 0.986841546053103, 1e-13);
  EXPECT_EQ(all.high, 1.0);
}

TEST(BinomialInterval, RefusesMoreSuccessesThanTrials) {
  EXPECT_THROW(binomial_interval(5, 4, 0.95), InternalError);
}

}  // namespace
}  // namespace whet
