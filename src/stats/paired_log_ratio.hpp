#pragma once

#include <span>
#include <vector>

#include "stats/interval.hpp"

namespace whet {

/// log(numerator / denominator), pair by pair. As many of one as of the other, all positive.
std::vector<double> log_ratios(
    std::span<const double> numerators, std::span<const double> denominators
);

/// Of the ratio of two times that were taken in pairs, so that what a pair shares cancels: the
/// paired t interval of the mean log-ratio, as ratios. At least two pairs.
Interval paired_ratio_interval(
    std::span<const double> numerators, std::span<const double> denominators, double confidence
);

}  // namespace whet
