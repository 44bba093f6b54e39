#include <set>

#include "tuner/strategy.hpp"

namespace whet {
namespace {

/// So many repetitions in a row mean that, but for a rare point, all of a small space was proposed.
constexpr int kMaxRepetitions = 10'000;

class Random final : public Strategy {
 public:
  Random(const SearchSpace& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  std::optional<Configuration> propose() override {
    for (int repetition = 0; repetition < kMaxRepetitions; ++repetition) {
      if (static_cast<double>(proposed_.size()) >= space_.size_bound()) {
        return std::nullopt;
      }
      Configuration configuration = space_.sample(seed_, next_++);
      if (proposed_.insert(configuration).second) {
        return configuration;
      }
    }
    return std::nullopt;
  }

  void observe(const Evaluation&) override {}

 private:
  const SearchSpace& space_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
  std::set<Configuration> proposed_;
};

}  // namespace

std::unique_ptr<Strategy> make_random(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<Random>(space, seed);
}

}  // namespace whet
