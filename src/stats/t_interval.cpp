#include "stats/t_interval.hpp"

#include <cmath>

#include "base/error.hpp"
#include "stats/mean.hpp"
#include "stats/student_t.hpp"

namespace whet {

MeanEstimate estimate_mean(std::span<const double> samples) {
  WHET_CHECK(samples.size() >= 2, "the error of a mean of {} samples", samples.size());
  const auto count = static_cast<double>(samples.size());
  return {
      .mean = mean(samples),
      .standard_error = standard_deviation(samples) / std::sqrt(count),
      .degrees_of_freedom = count - 1.0};
}

Interval t_interval(const MeanEstimate& estimate, double confidence) {
  const double t = student_t_quantile(0.5 + 0.5 * confidence, estimate.degrees_of_freedom);
  const double half_width = t * estimate.standard_error;
  return {.low = estimate.mean - half_width, .high = estimate.mean + half_width};
}

double t_upper_bound(const MeanEstimate& estimate, double alpha) {
  // By symmetry; 1 - alpha would lose digits of a small alpha.
  const double t = -student_t_quantile(alpha, estimate.degrees_of_freedom);
  return estimate.mean + t * estimate.standard_error;
}

double t_test_less(const MeanEstimate& estimate, double limit) {
  const double difference = estimate.mean - limit;
  if (estimate.standard_error == 0.0) {
    return difference < 0.0 ? 0.0 : 1.0;
  }
  return student_t_cdf(difference / estimate.standard_error, estimate.degrees_of_freedom);
}

}  // namespace whet
