#include "stats/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"

namespace whet {

double quantile(std::span<const double> samples, double fraction) {
  WHET_CHECK(!samples.empty(), "a quantile of no samples");
  WHET_CHECK(fraction >= 0.0 && fraction <= 1.0, "a quantile at {}", fraction);
  std::vector<double> sorted(samples.begin(), samples.end());
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(std::floor(position));
  const auto at_below = sorted.begin() + below;
  std::nth_element(sorted.begin(), at_below, sorted.end());
  const double weight = position - static_cast<double>(below);
  if (weight == 0.0) {
    return *at_below;
  }
  return std::lerp(*at_below, *std::min_element(at_below + 1, sorted.end()), weight);
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

}  // namespace whet
