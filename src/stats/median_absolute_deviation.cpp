#include "stats/median_absolute_deviation.hpp"

#include <cmath>
#include <vector>

#include "stats/quantile.hpp"

namespace whet {

double median_absolute_deviation(std::span<const double> samples) {
  const double center = median(samples);
  std::vector<double> distances;
  distances.reserve(samples.size());
  for (const double sample : samples) {
    distances.push_back(std::abs(sample - center));
  }
  return median(distances);
}

}  // namespace whet
