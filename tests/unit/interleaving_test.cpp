#include "timing/interleaving.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace whet {
namespace {

TEST(InterleavedOrder, IsAnOrderThenItsReverseInEveryRound) {
  const std::vector<int> order = interleaved_order(5, 3, 7);
  ASSERT_EQ(order.size(), 30u);
  for (std::size_t round = 0; round < 3; ++round) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(round * 10);
    const std::vector<int> there(begin, begin + 5);
    std::vector<int> back(begin + 5, begin + 10);
    std::reverse(back.begin(), back.end());
    EXPECT_EQ(there, back);
    EXPECT_TRUE(std::is_permutation(there.begin(), there.end(), std::begin({0, 1, 2, 3, 4})));
  }
}

TEST(InterleavedOrder, CancelsALinearDrift) {
  const std::vector<int> order = interleaved_order(4, 2, 3);
  std::vector<std::size_t> sum_of_positions(4, 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    sum_of_positions[static_cast<std::size_t>(order[i])] += i;
  }
  EXPECT_EQ(sum_of_positions, std::vector<std::size_t>(4, sum_of_positions[0]));
}

TEST(InterleavedOrder, DependsOnTheSeedAlone) {
  EXPECT_EQ(interleaved_order(6, 2, 1), interleaved_order(6, 2, 1));
  EXPECT_NE(interleaved_order(6, 2, 1), interleaved_order(6, 2, 2));
}

TEST(InterleavedOrder, HasNoBlocksWithoutSubjects) {
  EXPECT_TRUE(interleaved_order(0, 3, 1).empty());
}

}  // namespace
}  // namespace whet
