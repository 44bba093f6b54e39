#include "tuner/noise_floor.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "tuner/simulated_timings.hpp"

namespace whet {
namespace {

/// Identical candidates in 60 processes of 4 rounds.
std::vector<Finalist> identical(const NoiseSetting& setting, int num_candidates = 6) {
  SimulatedTimings timings(
      std::vector<double>(static_cast<std::size_t>(num_candidates), 0.0), setting, 7, 0
  );
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < timings.num_candidates(); ++i) {
    all.push_back(i);
  }
  std::vector<Finalist> finalists(all.size());
  for (int process = 0; process < 60; ++process) {
    const auto blocks = timings.run_process(all, 4, 50);
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto& own = finalists[i].blocks;
      own.insert(own.end(), blocks[i].begin(), blocks[i].end());
    }
  }
  return finalists;
}

TEST(NoiseFloor, FindsTheSpreadsThatWereDrawn) {
  NoiseSetting setting;
  setting.process_sd = 0.02;
  setting.block_sd = 0.0;
  setting.sample_sd = 0.01;
  setting.correlation = 0.0;
  setting.tail_share = 0.0;

  const NoiseFloor noise = noise_floor(identical(setting));

  EXPECT_NEAR(noise.process_sd, 0.02, 0.002);
  EXPECT_NEAR(noise.sample_sd, 0.01, 0.001);
  // The median of 50 normal samples scatters by sqrt(pi / 2 / 50) of one.
  EXPECT_NEAR(noise.block_sd, 0.01 * 0.177, 0.0003);
  EXPECT_NEAR(noise.drift, 0.0, 0.001);
  EXPECT_EQ(noise.num_processes, 60);
}

TEST(NoiseFloor, DoesNotCountWhatAllOfAProcessShare) {
  NoiseSetting setting;
  setting.drift_sd = 0.05;
  setting.correlation = 0.0;
  setting.tail_share = 0.0;
  EXPECT_LT(noise_floor(identical(setting)).process_sd, 1e-3);
}

TEST(NoiseFloor, RefusesASingleCandidate) {
  EXPECT_THROW(noise_floor(identical({}, 1)), InternalError);
}

TEST(DetectableDifference, ShrinksWithProcessesAndGrowsWithNoise) {
  EXPECT_LT(detectable_difference(0.01, 19, 0.001), detectable_difference(0.01, 6, 0.001));
  EXPECT_LT(detectable_difference(0.005, 6, 0.001), detectable_difference(0.01, 6, 0.001));
  // t of 18 degrees of freedom at 0.95 is 1.734.
  EXPECT_NEAR(detectable_difference(0.01, 19, 0.05), 1.734 * 0.01 * std::sqrt(2.0 / 19), 1e-4);
}

}  // namespace
}  // namespace whet
