#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace whet {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Half, EveryBf16RoundTrips) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto value = static_cast<std::uint16_t>(bits);
    if (std::isnan(bf16_to_f32(value))) {
      EXPECT_EQ(f32_to_bf16(bf16_to_f32(value)), (value & 0x8000u) | 0x7fc0u);
    } else {
      EXPECT_EQ(f32_to_bf16(bf16_to_f32(value)), value);
    }
  }
}

TEST(Half, EveryF16RoundTrips) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto value = static_cast<std::uint16_t>(bits);
    if (std::isnan(f16_to_f32(value))) {
      EXPECT_EQ(f32_to_f16(f16_to_f32(value)), (value & 0x8000u) | 0x7e00u);
    } else {
      EXPECT_EQ(f32_to_f16(f16_to_f32(value)), value);
    }
  }
}

TEST(Half, F16HasTheValuesOfTheStandard) {
  EXPECT_EQ(f16_to_f32(0x0001), 0x1p-24f);
  EXPECT_EQ(f16_to_f32(0x03ff), 0x1p-14f - 0x1p-24f);
  EXPECT_EQ(f16_to_f32(0x0400), 0x1p-14f);
  EXPECT_EQ(f16_to_f32(0x3c00), 1.0f);
  EXPECT_EQ(f16_to_f32(0x7bff), 65504.0f);
  EXPECT_EQ(f16_to_f32(0xfc00), -kInfinity);
}

/// Checks the three floats around the middle of each pair of neighbours against round to nearest
/// even.
template <typename ToF32, typename FromF32>
void expect_nearest_even(ToF32 to_f32, FromF32 from_f32, std::uint16_t infinity) {
  // Finite neighbours: the largest one and infinity have their own tests.
  for (std::uint16_t low = 0; low + 1 < infinity; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const auto exact = (static_cast<double>(to_f32(low)) + static_cast<double>(to_f32(high))) / 2;
    const auto middle = static_cast<float>(exact);
    if (static_cast<double>(middle) != exact) {
      continue;  // bf16 subnormals next to zero: f32 has no middle there
    }
    const std::uint16_t even = (low & 1u) == 0 ? low : high;
    ASSERT_EQ(from_f32(middle), even) << low;
    ASSERT_EQ(from_f32(std::nextafter(middle, 0.0f)), low) << low;
    ASSERT_EQ(from_f32(std::nextafter(middle, kInfinity)), high) << low;
    ASSERT_EQ(from_f32(-middle), even | 0x8000u) << low;
  }
}

TEST(Half, Bf16RoundsTiesToEven) { expect_nearest_even(bf16_to_f32, f32_to_bf16, 0x7f80); }

TEST(Half, F16RoundsTiesToEven) { expect_nearest_even(f16_to_f32, f32_to_f16, 0x7c00); }

TEST(Half, F16OverflowsFromTheMiddleOn) {
  EXPECT_EQ(f32_to_f16(65519.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-65520.0f), 0xfc00);
  EXPECT_EQ(f32_to_f16(kInfinity), 0x7c00);
}

TEST(Half, Bf16OverflowsFromTheMiddleOn) {
  const float largest = bf16_to_f32(0x7f7f);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(f32_to_bf16(largest), 0x7f7f);
  EXPECT_EQ(f32_to_bf16(std::nextafter(largest, kInfinity)), 0x7f7f);
}

TEST(Half, F16UnderflowsBelowHalfOfTheSmallest) {
  EXPECT_EQ(f32_to_f16(0x1p-25f), 0x0000);
  EXPECT_EQ(f32_to_f16(std::nextafter(0x1p-25f, 1.0f)), 0x0001);
  EXPECT_EQ(f32_to_f16(-0x1p-26f), 0x8000);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::denorm_min()), 0x0000);
}

TEST(Half, NanStaysNanWithItsSign) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // A payload only in the low bits would round to infinity if it were not looked for.
  const float low_payload = std::bit_cast<float>(0xff800001u);
  EXPECT_EQ(f32_to_bf16(nan), 0x7fc0);
  EXPECT_EQ(f32_to_f16(nan), 0x7e00);
  EXPECT_EQ(f32_to_bf16(low_payload), 0xffc0);
  EXPECT_EQ(f32_to_f16(low_payload), 0xfe00);
}

}  // namespace
}  // namespace whet
