#pragma once

#include <span>

namespace whet {

/// `samples` are not empty.
double mean(std::span<const double> samples);

/// With n - 1 in the denominator; there are at least two `samples`.
double standard_deviation(std::span<const double> samples);

}  // namespace whet
