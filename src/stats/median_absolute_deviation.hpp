#pragma once

#include <span>

namespace whet {

/// The median distance from the median: a spread that outliers do not move. Times 1.4826 it
/// estimates the standard deviation of normal samples. `samples` are not empty.
double median_absolute_deviation(std::span<const double> samples);

}  // namespace whet
