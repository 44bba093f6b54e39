#include "stats/paired_log_ratio.hpp"

#include <cmath>

#include "base/error.hpp"
#include "stats/t_interval.hpp"

namespace whet {

std::vector<double> log_ratios(
    std::span<const double> numerators, std::span<const double> denominators
) {
  WHET_CHECK(
      numerators.size() == denominators.size(),
      "{} values paired with {}",
      numerators.size(),
      denominators.size()
  );
  std::vector<double> ratios;
  ratios.reserve(numerators.size());
  for (std::size_t i = 0; i < numerators.size(); ++i) {
    WHET_CHECK(
        numerators[i] > 0.0 && denominators[i] > 0.0,
        "the logarithm of {} / {}",
        numerators[i],
        denominators[i]
    );
    ratios.push_back(std::log(numerators[i] / denominators[i]));
  }
  return ratios;
}

Interval paired_ratio_interval(
    std::span<const double> numerators, std::span<const double> denominators, double confidence
) {
  const Interval log = t_interval(estimate_mean(log_ratios(numerators, denominators)), confidence);
  return {.low = std::exp(log.low), .high = std::exp(log.high)};
}

}  // namespace whet
