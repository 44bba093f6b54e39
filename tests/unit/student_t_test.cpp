#include "stats/student_t.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/error.hpp"
#include "stats/paired_log_ratio.hpp"
#include "stats/t_interval.hpp"

namespace whet {
namespace {

// Expected values are those of scipy 1.17.

constexpr std::array kFirst{10.1, 10.4, 9.8, 10.9, 10.2, 10.0, 11.3};
constexpr std::array kSecond{10.5, 10.9, 10.3, 11.1, 10.4, 10.6, 11.2};

TEST(StudentT, CdfAgreesWithScipy) {
  EXPECT_NEAR(student_t_cdf(-2.5, 3), 0.04385332350403278, 1e-15);
  EXPECT_NEAR(student_t_cdf(1.0, 10), 0.8295534338489701, 1e-14);
  EXPECT_NEAR(student_t_cdf(0.3, 1), 0.5927735790777423, 1e-14);
  EXPECT_NEAR(student_t_cdf(-40, 4), 1.1670081613006339e-06, 1e-18);
}

TEST(StudentT, CdfReachesItsLimits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(student_t_cdf(-kInfinity, 3), 0.0);
  EXPECT_EQ(student_t_cdf(kInfinity, 3), 1.0);
}

TEST(StudentT, QuantileAgreesWithScipy) {
  EXPECT_NEAR(student_t_quantile(0.975, 3), 3.1824463052837078, 1e-12);
  EXPECT_NEAR(student_t_quantile(0.0004, 12), -4.444877513622859, 1e-12);
  EXPECT_NEAR(student_t_quantile(0.5, 2), 0.0, 1e-15);
  EXPECT_NEAR(student_t_quantile(0.9, 1.5), 2.1963984175655376, 1e-12);
}

TEST(StudentT, RefusesACertainty) { EXPECT_THROW(student_t_quantile(1.0, 3), InternalError); }

TEST(TTest, AgreesWithScipyOnPairs) {
  const MeanEstimate estimate = estimate_mean(log_ratios(kFirst, kSecond));
  EXPECT_NEAR(t_test_less(estimate, 0.0), 0.005764085033241242, 1e-14);
}

TEST(TTest, IsCertainWithoutSpread) {
  const MeanEstimate estimate = estimate_mean(std::array{-0.25, -0.25, -0.25});
  EXPECT_EQ(t_test_less(estimate, 0.0), 0.0);
  EXPECT_EQ(t_test_less(estimate, -0.25), 1.0);
}

TEST(TUpperBound, AgreesWithScipy) {
  const MeanEstimate estimate = estimate_mean(log_ratios(kFirst, kSecond));
  EXPECT_NEAR(t_upper_bound(estimate, 0.01), -0.003947739904735115, 1e-14);
}

TEST(PairedRatioInterval, AgreesWithScipy) {
  const Interval ratio = paired_ratio_interval(kFirst, kSecond, 0.95);
  EXPECT_NEAR(ratio.low, 0.94793394, 1e-8);
  EXPECT_NEAR(ratio.high, 0.98993893, 1e-8);
}

TEST(PairedRatioInterval, RefusesUnequalCounts) {
  EXPECT_THROW(paired_ratio_interval(kFirst, std::span(kSecond).first(6), 0.95), InternalError);
}

TEST(PairedRatioInterval, RefusesATimeOfZero) {
  EXPECT_THROW(
      paired_ratio_interval(std::array{1.0, 0.0}, std::array{1.0, 1.0}, 0.95), InternalError
  );
}

}  // namespace
}  // namespace whet
