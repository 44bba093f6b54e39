#include "base/philox.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace whet {
namespace {

using Block = std::array<std::uint32_t, 4>;

TEST(Philox, MatchesTheKnownAnswersOfRandom123) {
  // Source: Random123, tests/kat_vectors, philox4x32 10.
  EXPECT_EQ(
      philox4x32_10({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8})
  );
  EXPECT_EQ(
      philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd})
  );
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1})
  );
}

TEST(Philox, LaysOutSeedStreamAndIndexLowWordFirst) {
  const std::uint64_t seed = 0x299f31d0a4093822u;
  const std::uint64_t stream = 0x0370734413198a2eu;
  const std::uint64_t block = 0x05a308d3243f6a88u;  // the fourth of 2^64 words, so below 2^62
  const Block expected =
      philox4x32_10({0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(Philox(seed, stream).word(4 * block + i), expected[i]);
  }
}

TEST(Philox, UniformStaysInsideTheOpenInterval) {
  const Philox random(0, 0);
  EXPECT_EQ(random.uniform(0), (0x6627e8d5 + 0.5) / 4294967296.0);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    ASSERT_GT(random.uniform(i), 0.0);
    ASSERT_LT(random.uniform(i), 1.0);
  }
}

TEST(Philox, NormalHasTheMomentsOfANormal) {
  const Philox random(101, 3);
  constexpr int kCount = 100'000;
  double sum = 0;
  double sum_of_squares = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double value = random.normal(i);
    sum += value;
    sum_of_squares += value * value;
  }
  // Five standard errors of the mean and of the variance.
  EXPECT_NEAR(sum / kCount, 0.0, 5.0 / std::sqrt(kCount));
  EXPECT_NEAR(sum_of_squares / kCount, 1.0, 5.0 * std::sqrt(2.0 / kCount));
}

}  // namespace
}  // namespace whet
