#include "tuner/predicted_sample.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace whet {

PredictedSample predict_sample(
    const SearchSpace& space, std::uint64_t seed, const Predictor& predictor, std::int64_t count
) {
  PredictedSample sample;
  std::set<Configuration> drawn;
  double best_ns = std::numeric_limits<double>::max();
  for (std::int64_t n = 0; n < count; ++n) {
    Configuration configuration = space.sample(seed, static_cast<std::uint64_t>(n));
    if (!drawn.insert(configuration).second) {
      continue;
    }
    if (const std::optional<double> predicted_ns = predictor(configuration)) {
      best_ns = std::min(best_ns, *predicted_ns);
      sample.kept.push_back({std::move(configuration), *predicted_ns});
    } else {
      ++sample.num_refused;
    }
  }
  sample.num_pruned = static_cast<std::int64_t>(std::erase_if(
      sample.kept,
      [&](const PredictedConfiguration& candidate) {
        return candidate.predicted_ns > kPruningMargin * best_ns;
      }
  ));
  return sample;
}

}  // namespace whet
