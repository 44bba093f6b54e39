#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "schedule/search_space.hpp"

namespace whet {

/// What the model says of a configuration, in ns a step; nothing if a constraint refuses it.
using Predictor = std::function<std::optional<double>(const Configuration&)>;

/// A configuration with what the model says of it.
struct PredictedConfiguration {
  Configuration configuration;
  double predicted_ns = 0.0;
};

/// The part of a space that a search by the model looks at.
struct PredictedSample {
  std::vector<PredictedConfiguration> kept;  ///< distinct, in the order in which they were drawn
  std::int64_t num_refused = 0;              ///< by constraints
  std::int64_t num_pruned = 0;  ///< predicted slower than kPruningMargin times the best
};

/// How much slower than the best predicted a configuration must be to be left out. Of 783
/// predictions for an H200 none is off by more than a factor 2.2 (results/h200/seeds.json).
constexpr double kPruningMargin = 4.0;
/// Configurations that are drawn: enough for hours, predicted within two seconds.
constexpr std::int64_t kPredictedConfigurations = 4000;

/// Draws `count` points of the space's seeded order, or as many distinct ones as there are.
PredictedSample predict_sample(
    const SearchSpace& space,
    std::uint64_t seed,
    const Predictor& predictor,
    std::int64_t count = kPredictedConfigurations
);

}  // namespace whet
