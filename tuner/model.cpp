#include <algorithm>
#include <map>
#include <utility>

#include "tuner/strategy.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// Every so many proposals one comes in the order of the sample, so that what the model is wrong
/// about is tried too.
constexpr std::int64_t kDrawnPeriod = 4;
/// How much slower each further configuration of one predicted time counts: those are most likely
/// one schedule, and would keep others from being tried.
constexpr double kRepetitionCost = 0.01;

/// Indices of `candidates` in the order in which the model proposes them.
std::vector<Index> predicted_order(const std::vector<PredictedConfiguration>& candidates) {
  std::map<double, int> repetitions;
  std::vector<std::pair<double, Index>> order;
  for (Index i = 0; i < candidates.size(); ++i) {
    const double predicted_ns = candidates[i].predicted_ns;
    order.emplace_back(predicted_ns * (1 + kRepetitionCost * repetitions[predicted_ns]++), i);
  }
  std::ranges::sort(order);
  std::vector<Index> indices;
  for (const auto& [cost, index] : order) {
    indices.push_back(index);
  }
  return indices;
}

class Model final : public Strategy {
 public:
  explicit Model(PredictedSample sample)
      : candidates_(std::move(sample.kept)),
        order_(predicted_order(candidates_)),
        proposed_(candidates_.size(), false) {}

  std::optional<Configuration> propose() override {
    const bool is_drawn = ++num_proposals_ % kDrawnPeriod == 0;
    while (next_predicted_ < order_.size() && proposed_[order_[next_predicted_]]) {
      ++next_predicted_;
    }
    while (next_drawn_ < candidates_.size() && proposed_[next_drawn_]) {
      ++next_drawn_;
    }
    if (next_drawn_ == candidates_.size()) {
      return std::nullopt;
    }
    const Index chosen = is_drawn ? next_drawn_ : order_[next_predicted_];
    proposed_[chosen] = true;
    return candidates_[chosen].configuration;
  }

  void observe(const Evaluation&) override {}

 private:
  std::vector<PredictedConfiguration> candidates_;
  std::vector<Index> order_;
  std::vector<bool> proposed_;
  Index next_predicted_ = 0;
  Index next_drawn_ = 0;
  std::int64_t num_proposals_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_model(PredictedSample sample) {
  return std::make_unique<Model>(std::move(sample));
}

}  // namespace whet
