#include "stats/bootstrap.hpp"

#include <vector>

#include "base/error.hpp"
#include "base/philox.hpp"
#include "stats/quantile.hpp"

namespace whet {

Interval bootstrap_median_interval(
    std::span<const double> samples, double confidence, int num_resamples, std::uint64_t seed
) {
  WHET_CHECK(!samples.empty(), "a bootstrap of no samples");
  WHET_CHECK(num_resamples > 0, "{} resamples", num_resamples);
  WHET_CHECK(confidence > 0.0 && confidence < 1.0, "a confidence of {}", confidence);
  const auto count = static_cast<double>(samples.size());
  std::vector<double> medians;
  std::vector<double> resample(samples.size());
  for (int i = 0; i < num_resamples; ++i) {
    const Philox random(seed, static_cast<std::uint64_t>(i));
    for (std::size_t j = 0; j < resample.size(); ++j) {
      resample[j] = samples[static_cast<std::size_t>(random.uniform(j) * count)];
    }
    medians.push_back(median(resample));
  }
  const double tail = 0.5 * (1.0 - confidence);
  return {.low = quantile(medians, tail), .high = quantile(medians, 1.0 - tail)};
}

}  // namespace whet
