#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "evaluation/evaluation.hpp"
#include "schedule/configuration.hpp"
#include "schedule/search_space.hpp"
#include "tuner/predicted_sample.hpp"

namespace whet {

/// Decides what to try next. Never measures: it proposes, and is told what happened. The same
/// space, seed and observations give the same proposals.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// A configuration that it has not proposed before, or nothing when there is none left. May be
  /// called several times before what it proposed is observed.
  virtual std::optional<Configuration> propose() = 0;
  virtual void observe(const Evaluation& evaluation) = 0;
};

/// Every configuration once, in strides that soon touch every value of every knob. `space` must
/// outlive it.
std::unique_ptr<Strategy> make_exhaustive(const SearchSpace& space, std::uint64_t seed);

/// The space's seeded, stratified sample without repetition. `space` must outlive it.
std::unique_ptr<Strategy> make_random(const SearchSpace& space, std::uint64_t seed);

/// The sample in the order of predicted times, every fourth proposal in the order of drawing.
std::unique_ptr<Strategy> make_model(PredictedSample sample);

/// Throws UserError naming the choices unless `name` is "exhaustive", "model" or "random".
void check_strategy(const std::string& name);

/// "exhaustive" or "random"; "model" is made from its sample, by make_model. `space` must outlive
/// it. Throws UserError as check_strategy.
std::unique_ptr<Strategy> make_strategy(
    const std::string& name, const SearchSpace& space, std::uint64_t seed
);

}  // namespace whet
