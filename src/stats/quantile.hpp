#pragma once

#include <span>

namespace whet {

/// The value below which `fraction` of the samples lie, linear between order statistics. `samples`
/// are not empty, `fraction` is within [0, 1].
/// Source: Hyndman and Fan, "Sample quantiles in statistical packages", 1996, definition 7.
double quantile(std::span<const double> samples, double fraction);

/// The quantile at one half.
double median(std::span<const double> samples);

}  // namespace whet
