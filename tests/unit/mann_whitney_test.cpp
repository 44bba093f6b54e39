#include "stats/mann_whitney.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/error.hpp"

namespace whet {
namespace {

// Expected values are those of scipy 1.17, method "auto".

TEST(MannWhitney, IsExactForFewSamples) {
  const MannWhitney result =
      mann_whitney(std::array{1.1, 2.2, 3.3, 4.4, 5.5}, std::array{2.1, 3.2, 4.3, 6.6, 7.7, 8.8});
  EXPECT_EQ(result.u, 9.0);
  EXPECT_NEAR(result.p_value, 0.32900432900432897, 1e-14);
}

TEST(MannWhitney, IsExactWhenOneSetIsSmall) {
  std::vector<double> many;
  for (int i = 0; i < 40; ++i) {
    many.push_back(i);
  }
  const MannWhitney result = mann_whitney(std::array{1.5, 2.5, 9.5}, many);
  EXPECT_EQ(result.u, 15.0);
  EXPECT_NEAR(result.p_value, 0.028198687302487646, 1e-14);
}

TEST(MannWhitney, CorrectsForTies) {
  const MannWhitney result = mann_whitney(
      std::array{10.1, 10.4, 9.8, 10.9, 10.2, 10.0, 11.3},
      std::array{10.5, 10.9, 10.3, 11.1, 10.4, 10.6, 11.2}
  );
  EXPECT_EQ(result.u, 13.0);
  EXPECT_NEAR(result.p_value, 0.15894527254290047, 1e-14);
}

TEST(MannWhitney, ApproximatesForManySamples) {
  std::vector<double> first;
  std::vector<double> second;
  for (int i = 0; i < 12; ++i) {
    first.push_back((7 * i) % 31);
  }
  for (int i = 0; i < 15; ++i) {
    second.push_back((11 * i) % 29 + 0.5);
  }
  const MannWhitney result = mann_whitney(first, second);
  EXPECT_EQ(result.u, 82.0);
  EXPECT_NEAR(result.p_value, 0.7143930376343264, 1e-13);
}

TEST(MannWhitney, FindsNothingWhenAllValuesAreEqual) {
  const std::vector<double> equal(20, 3.0);
  EXPECT_EQ(mann_whitney(equal, equal).p_value, 1.0);
}

TEST(MannWhitney, RefusesAnEmptySet) {
  EXPECT_THROW(mann_whitney({}, std::array{1.0}), InternalError);
}

}  // namespace
}  // namespace whet
