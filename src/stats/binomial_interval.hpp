#pragma once

#include <cstdint>

#include "stats/interval.hpp"

namespace whet {

/// Where the probability of a success lies, given `num_successes` of `num_trials` > 0: at least
/// `confidence` of such intervals hold the truth. Source: Clopper and Pearson, Biometrika 26, 1934.
Interval binomial_interval(std::int64_t num_successes, std::int64_t num_trials, double confidence);

}  // namespace whet
