#include "stats/rank_correlation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace whet {
namespace {

using Values = std::vector<double>;

TEST(RankCorrelation, IsOneForAnyRisingFunctionAndMinusOneForAFallingOne) {
  EXPECT_DOUBLE_EQ(rank_correlation(Values{3, 1, 2, 9}, Values{30, 0, 7, 1e9}), 1.0);
  EXPECT_DOUBLE_EQ(rank_correlation(Values{3, 1, 2, 9}, Values{-3, -1, -2, -9}), -1.0);
}

TEST(RankCorrelation, OfTheTextbooksExample) {
  // Differences of ranks 1, 1, 1, 1, 0: 1 - 6 * 4 / (5 * 24).
  EXPECT_DOUBLE_EQ(rank_correlation(Values{1, 2, 3, 4, 5}, Values{2, 1, 4, 3, 5}), 0.8);
}

TEST(RankCorrelation, TiesShareTheirMeanRank) {
  // Ranks 0.5, 0.5, 2 against 0, 1, 2: covariance 1.5, variances 1.5 and 2.
  EXPECT_NEAR(rank_correlation(Values{1, 1, 2}, Values{1, 2, 3}), 1.5 / std::sqrt(3.0), 1e-12);
  EXPECT_DOUBLE_EQ(rank_correlation(Values{1, 1, 1}, Values{1, 2, 3}), 0.0);
  EXPECT_DOUBLE_EQ(rank_correlation(Values{}, Values{}), 0.0);
}

}  // namespace
}  // namespace whet
