#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "support/programs.hpp"
#include "tuner/strategy.hpp"

namespace whet {
namespace {

/// Of a space whose time is the product of its tile's sides, and which refuses blocks=1.
std::optional<double> tile_area(const Configuration& configuration) {
  const auto number = [&](const char* name) {
    return std::strtod(configuration.values.at(name).c_str(), nullptr);
  };
  if (configuration.values.at("blocks") == "1") {
    return std::nullopt;
  }
  return number("tile_m") * number("tile_n");
}

class ModelStrategy : public ::testing::Test {
 protected:
  std::vector<Configuration> proposals(std::uint64_t seed) const {
    const auto strategy = make_model(predict_sample(space_, seed, tile_area));
    std::vector<Configuration> list;
    while (const auto proposal = strategy->propose()) {
      list.push_back(*proposal);
    }
    return list;
  }

  const Program program_ = testing::mlp(4, 16, 24, 5, DType::F32);
  const SearchSpace space_{program_, host_limits(2)};
};

TEST_F(ModelStrategy, ProposesEachOfItsSampleOnce) {
  const PredictedSample sample = predict_sample(space_, 3, tile_area);
  const std::vector<Configuration> list = proposals(3);
  EXPECT_EQ(list.size(), sample.kept.size());
  EXPECT_EQ(std::set<Configuration>(list.begin(), list.end()).size(), list.size());
  EXPECT_GT(sample.num_refused, 0);
}

TEST_F(ModelStrategy, PrunesOnlyWhatIsFarFromTheBest) {
  const PredictedSample sample = predict_sample(space_, 3, tile_area);
  double best = 1e9;
  for (const PredictedConfiguration& candidate : sample.kept) {
    best = std::min(best, candidate.predicted_ns);
  }
  std::int64_t num_far = 0;
  std::set<Configuration> drawn;
  for (std::uint64_t n = 0; n < 4000; ++n) {
    const Configuration configuration = space_.sample(3, n);
    const std::optional<double> area = tile_area(configuration);
    if (drawn.insert(configuration).second && area) {
      num_far += *area > 4 * best ? 1 : 0;
    }
  }
  EXPECT_EQ(best, 8 * 16);
  EXPECT_EQ(sample.num_pruned, num_far);
  for (const PredictedConfiguration& candidate : sample.kept) {
    EXPECT_LE(candidate.predicted_ns, 4 * best);
  }
}

TEST_F(ModelStrategy, ComesInPredictedOrderButForEveryFourthProposal) {
  const std::vector<Configuration> list = proposals(3);
  const PredictedSample sample = predict_sample(space_, 3, tile_area);
  ASSERT_GT(list.size(), 40U);
  EXPECT_EQ(*tile_area(list[0]), 8 * 16);
  EXPECT_EQ(list[3], sample.kept.front().configuration);
  double least = 0.0;
  for (std::size_t i = 0; i < list.size() / 2; ++i) {
    if (i % 4 != 3) {
      // A repeated time counts a hundredth more each, so the order is only nearly that of times.
      const double area = *tile_area(list[i]);
      least = std::max(least, area);
      EXPECT_GE(area * 4, least);
    }
  }
}

TEST_F(ModelStrategy, RepetitionsOfATimeDoNotKeepOthersAway) {
  PredictedSample sample;
  for (std::uint64_t n = 0; sample.kept.size() < 20; n += 7) {
    sample.kept.push_back({space_.at(n), 100.0});
  }
  Configuration slower = space_.default_configuration();
  sample.kept.push_back({slower, 104.5});
  const auto strategy = make_model(sample);
  std::size_t place = 0;
  while (strategy->propose() != slower) {
    ++place;
  }
  EXPECT_EQ(place, 5U);  // behind five of the twenty
}

TEST_F(ModelStrategy, RepeatsItselfForASeedOnly) {
  EXPECT_EQ(proposals(3), proposals(3));
  EXPECT_NE(proposals(3), proposals(4));
}

}  // namespace
}  // namespace whet
