#pragma once

#include <cstdint>
#include <span>

#include "stats/interval.hpp"

namespace whet {

/// Percentile interval of the median over `num_resamples` resamples with replacement. The samples
/// must be independent: resampling the timings of one process says nothing about the next. Same
/// seed, same interval. `samples` are not empty.
/// Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
Interval bootstrap_median_interval(
    std::span<const double> samples, double confidence, int num_resamples, std::uint64_t seed
);

}  // namespace whet
