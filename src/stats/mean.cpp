#include "stats/mean.hpp"

#include <cmath>
#include <numeric>

#include "base/error.hpp"

namespace whet {

double mean(std::span<const double> samples) {
  WHET_CHECK(!samples.empty(), "a mean of no samples");
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double standard_deviation(std::span<const double> samples) {
  WHET_CHECK(samples.size() >= 2, "a standard deviation of {} samples", samples.size());
  const double center = mean(samples);
  double sum = 0.0;
  for (const double sample : samples) {
    sum += (sample - center) * (sample - center);
  }
  return std::sqrt(sum / static_cast<double>(samples.size() - 1));
}

}  // namespace whet
