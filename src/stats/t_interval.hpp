#pragma once

#include <span>

#include "stats/interval.hpp"

namespace whet {

/// A mean and how well it is known.
struct MeanEstimate {
  double mean = 0.0;
  double standard_error = 0.0;
  double degrees_of_freedom = 1.0;

  bool operator==(const MeanEstimate&) const = default;
};

/// Of at least two independent samples.
MeanEstimate estimate_mean(std::span<const double> samples);

/// Holds the true mean of normal samples with probability `confidence`.
Interval t_interval(const MeanEstimate& estimate, double confidence);

/// The true mean of normal samples exceeds it with probability `alpha`.
double t_upper_bound(const MeanEstimate& estimate, double alpha);

/// One-sided p of the null hypothesis that the true mean is at least `limit`: small when the
/// samples say that it is less. Without any spread it is 0 or 1.
double t_test_less(const MeanEstimate& estimate, double limit);

}  // namespace whet
