// The emulated device helpers against the definitions of PTX and ATen.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "base/half.hpp"
#include "emulated_kernel.hpp"

namespace whet {
namespace {

using device::bf16;
using device::f16;
using device::u16;
using device::u32;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

void expect_no_fault(const std::optional<EmulationFault>& fault) {
  EXPECT_FALSE(fault.has_value()) << fault->detail;
}

TEST(Conversions, WidenEveryValueOfBothFormats) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto half = static_cast<u16>(i);
    ASSERT_EQ(bits(device::to_f32(bf16{half})), bits(bf16_to_f32(half))) << i;
    ASSERT_EQ(bits(device::to_f32(f16{half})), bits(f16_to_f32(half))) << i;
  }
}

// Every sign, exponent and leading significand with the low halves about which rounding turns.
TEST(Conversions, RoundAsTheReferenceDoes) {
  constexpr std::uint32_t kLow[] = {
      0x0000,
      0x0001,
      0x0fff,
      0x1000,
      0x1001,
      0x1fff,
      0x2000,
      0x2fff,
      0x3000,
      0x3001,
      0x7fff,
      0x8000,
      0x8001,
      0xffff};
  for (std::uint32_t high = 0; high < 65536; ++high) {
    for (const std::uint32_t low : kLow) {
      const float value = std::bit_cast<float>(high << 16 | low);
      ASSERT_EQ(device::from_f32<bf16>(value).bits, f32_to_bf16(value)) << std::hex << bits(value);
      ASSERT_EQ(device::from_f32<f16>(value).bits, f32_to_f16(value)) << std::hex << bits(value);
    }
  }
}

TEST(Conversions, RoundTiesToEven) {
  EXPECT_EQ(device::from_f32<bf16>(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80);
  EXPECT_EQ(device::from_f32<bf16>(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82);
  EXPECT_EQ(device::from_f32<f16>(1.0f + 0x1p-11f).bits, 0x3c00);
  EXPECT_EQ(device::from_f32<f16>(1.0f + 0x1.8p-10f).bits, 0x3c02);
  EXPECT_EQ(device::from_f32<f16>(65519.0f).bits, 0x7bff);
  EXPECT_EQ(device::from_f32<f16>(65520.0f).bits, 0x7c00);
}

TEST(Conversions, PutTheFirstElementIntoTheLowHalf) {
  EXPECT_EQ(device::pack2<bf16>(1.0f, -2.0f), 0xc0003f80u);
  EXPECT_EQ(device::pack2<f16>(1.0f, -2.0f), 0xc0003c00u);
}

TEST(ScalarFunctions, ReluKeepsNanAndNegativeZero) {
  EXPECT_EQ(device::relu(-1.0f), 0.0f);
  EXPECT_EQ(device::relu(2.5f), 2.5f);
  EXPECT_TRUE(std::isnan(device::relu(kNan)));
  EXPECT_TRUE(std::signbit(device::relu(-0.0f)));
  EXPECT_EQ(device::relu(-kInfinity), 0.0f);
}

TEST(ScalarFunctions, ThresholdBackwardLetsGradientsOfNanThrough) {
  EXPECT_EQ(device::threshold_backward(3.0f, 1.0f, 0.0f), 3.0f);
  EXPECT_EQ(device::threshold_backward(3.0f, 0.0f, 0.0f), 0.0f);
  EXPECT_EQ(device::threshold_backward(3.0f, kNan, 0.0f), 3.0f);
}

TEST(ScalarFunctions, PowerHasTheSpecialCasesOfAten) {
  const float base = 1.7f;
  EXPECT_EQ(device::power(base, 0.0f), 1.0f);
  EXPECT_EQ(device::power(base, 1.0f), base);
  EXPECT_EQ(device::power(base, 2.0f), base * base);
  EXPECT_EQ(device::power(base, 3.0f), base * base * base);
  EXPECT_EQ(device::power(base, 0.5f), std::sqrt(base));
  EXPECT_EQ(device::power(base, -0.5f), 1.0f / std::sqrt(base));
  EXPECT_EQ(device::power(base, -1.0f), 1.0f / base);
  EXPECT_EQ(device::power(base, -2.0f), 1.0f / (base * base));
  EXPECT_EQ(device::power(base, 1.3f), std::pow(base, 1.3f));
  EXPECT_EQ(device::power(-2.0f, 3.0f), -8.0f);
}

TEST(ScalarFunctions, FmaRoundsOnce) {
  const float a = 1.0f + 0x1p-12f;
  EXPECT_EQ(device::fma(a, a, -1.0f), static_cast<float>(static_cast<double>(a) * a - 1.0));
  EXPECT_NE(device::fma(a, a, -1.0f), a * a - 1.0f);
}

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

TEST(WarpSum, GivesEveryLaneTheBitsOfTheButterfly) {
  const std::vector<float> values = random_values(32, 5);
  std::vector<float> want = values;
  for (std::size_t mask = 16; mask > 0; mask /= 2) {
    std::vector<float> next(32);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      next[lane] = want[lane] + want[lane ^ mask];
    }
    want = next;
  }
  std::vector<float> got(32);
  expect_no_fault(run_kernel([&] {
    const auto lane = static_cast<std::size_t>(device::lane_index());
    got[lane] = device::warp_sum(values[lane]);
  }));
  EXPECT_EQ(got, want);
}

TEST(ShuffleXor, ReadsThePartnerLane) {
  std::vector<float> got(64);
  expect_no_fault(run_kernel(
      [&] {
        const int thread = device::thread_index();
        got[static_cast<std::size_t>(thread)] = device::shuffle_xor(static_cast<float>(thread), 5);
      },
      {.threads = 64}
  ));
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(got[i], static_cast<float>(i ^ 5u));
  }
}

/// Shared memory of `num_rows` rows of 8 elements, element (row, column) being 8 row + column.
void number_rows(int num_rows) {
  auto* rows = reinterpret_cast<u16*>(device::shared_memory());
  for (int i = device::thread_index(); i < num_rows * 8; i += 32) {
    rows[i] = static_cast<u16>(i);
  }
  device::block_barrier();
}

u32 numbered_pair(int lo, int hi) { return static_cast<u32>(lo) | static_cast<u32>(hi) << 16; }

TEST(Ldmatrix, GivesEachLaneTwoElementsOfItsRow) {
  expect_no_fault(run_kernel(
      [] {
        number_rows(32);
        const int lane = device::lane_index();
        u32 four[4];
        u32 two[2];
        device::ldmatrix_x4(four, device::shared_memory() + 16 * lane);
        device::ldmatrix_x2(two, device::shared_memory() + 16 * lane);
        for (int i = 0; i < 4; ++i) {
          const int first = (8 * i + lane / 4) * 8 + lane % 4 * 2;
          EXPECT_EQ(four[i], numbered_pair(first, first + 1));
          if (i < 2) {
            EXPECT_EQ(two[i], four[i]);
          }
        }
      },
      {.shared_bytes = 512}
  ));
}

TEST(Ldmatrix, TransposedGivesEachLaneTwoElementsOfItsColumn) {
  expect_no_fault(run_kernel(
      [] {
        number_rows(32);
        const int lane = device::lane_index();
        u32 four[4];
        u32 two[2];
        device::ldmatrix_x4_trans(four, device::shared_memory() + 16 * lane);
        device::ldmatrix_x2_trans(two, device::shared_memory() + 16 * lane);
        for (int i = 0; i < 4; ++i) {
          const int row = lane % 4 * 2;
          const int column = lane / 4;
          EXPECT_EQ(
              four[i], numbered_pair((8 * i + row) * 8 + column, (8 * i + row + 1) * 8 + column)
          );
          if (i < 2) {
            EXPECT_EQ(two[i], four[i]);
          }
        }
      },
      {.shared_bytes = 512}
  ));
}

TEST(Movmatrix, TransposesAFragment) {
  expect_no_fault(run_kernel(
      [] {
        number_rows(32);
        const int lane = device::lane_index();
        u32 plain[4];
        u32 transposed[4];
        device::ldmatrix_x4(plain, device::shared_memory() + 16 * lane);
        device::ldmatrix_x4_trans(transposed, device::shared_memory() + 16 * lane);
        for (int i = 0; i < 4; ++i) {
          EXPECT_EQ(device::movmatrix(plain[i]), transposed[i]);
        }
      },
      {.shared_bytes = 512}
  ));
}

/// c[16x8] = a[16x16] b[16x8], fragments filled by the tables of the PTX manual ("Matrix Fragments
/// for mma.m16n8k16 with floating point type").
template <class T>
void expect_mma_multiplies() {
  const std::vector<float> values = random_values(16 * 16 + 16 * 8 + 16 * 8, 7);
  std::vector<T> a(16 * 16);
  std::vector<T> b(16 * 8);
  std::vector<float> c(16 * 8);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = device::from_f32<T>(values[i]);
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = device::from_f32<T>(values[256 + i]);
    c[i] = values[384 + i];
  }
  std::vector<float> got(16 * 8);
  expect_no_fault(run_kernel([&] {
    const std::size_t lane = static_cast<std::size_t>(device::lane_index());
    const std::size_t group = lane >> 2;
    const std::size_t in_group = lane % 4;
    u32 fragment_a[4] = {};
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
      const std::size_t column = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      fragment_a[i / 2] |= static_cast<u32>(a[row * 16 + column].bits) << (16 * (i & 1));
    }
    u32 fragment_b[2] = {};
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0);
      fragment_b[i / 2] |= static_cast<u32>(b[row * 8 + group].bits) << (16 * (i & 1));
    }
    float fragment_c[4];
    const auto place = [&](std::size_t i) {
      return (i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1);
    };
    for (std::size_t i = 0; i < 4; ++i) {
      fragment_c[i] = c[place(i)];
    }
    device::mma_m16n8k16(fragment_c, fragment_a, fragment_b, T{});
    for (std::size_t i = 0; i < 4; ++i) {
      got[place(i)] = fragment_c[i];
    }
  }));
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      float want = c[row * 8 + column];
      for (std::size_t k = 0; k < 16; ++k) {
        want += device::to_f32(a[row * 16 + k]) * device::to_f32(b[k * 8 + column]);
      }
      EXPECT_EQ(got[row * 8 + column], want) << row << ", " << column;
    }
  }
}

TEST(Mma, MultipliesBf16FragmentsOfThePtxTables) { expect_mma_multiplies<bf16>(); }
TEST(Mma, MultipliesF16FragmentsOfThePtxTables) { expect_mma_multiplies<f16>(); }

// The addresses that a GEMM uses: a row-major, b as [k][n] by the transposing load.
TEST(Mma, MultipliesTilesThatLdmatrixLoads) {
  constexpr int kSkew = 8;
  constexpr int kStrideA = 16 + kSkew;
  constexpr int kStrideB = 8 + kSkew;
  const std::vector<float> values = random_values(16 * 16 + 16 * 8, 11);
  std::vector<float> got(16 * 8);
  expect_no_fault(run_kernel(
      [&] {
        auto* a = reinterpret_cast<bf16*>(device::shared_memory());
        bf16* b = a + 16 * kStrideA;
        const int lane = device::lane_index();
        for (int i = lane; i < 256; i += 32) {
          a[i / 16 * kStrideA + i % 16] =
              device::from_f32<bf16>(values[static_cast<std::size_t>(i)]);
        }
        for (int i = lane; i < 128; i += 32) {
          b[i / 8 * kStrideB + i % 8] =
              device::from_f32<bf16>(values[static_cast<std::size_t>(256 + i)]);
        }
        device::block_barrier();
        u32 fragment_a[4];
        u32 fragment_b[2];
        device::ldmatrix_x4(fragment_a, a + lane % 16 * kStrideA + lane / 16 * 8);
        device::ldmatrix_x2_trans(fragment_b, b + lane % 16 * kStrideB);
        float c[4] = {};
        device::mma_m16n8k16(c, fragment_a, fragment_b, bf16{});
        for (int i = 0; i < 4; ++i) {
          const int row = lane / 4 + i / 2 * 8;
          got[static_cast<std::size_t>(row * 8 + lane % 4 * 2 + i % 2)] = c[i];
        }
      },
      {.shared_bytes = 2 * (16 * kStrideA + 16 * kStrideB)}
  ));
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      float want = 0.0f;
      for (std::size_t k = 0; k < 16; ++k) {
        want += device::round_bf16(values[row * 16 + k]) *
                device::round_bf16(values[256 + k * 8 + column]);
      }
      EXPECT_EQ(got[row * 8 + column], want) << row << ", " << column;
    }
  }
}

/// What lane 0 finds in shared memory after `kernel`, which every lane runs on its own 16 bytes.
u32 first_word_after(const std::function<void(char* mine, const u32* source)>& kernel) {
  alignas(16) static constexpr u32 kSource[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  u32 word = 0;
  expect_no_fault(run_kernel(
      [&] {
        char* mine = device::shared_memory() + 16 * device::lane_index();
        kernel(mine, kSource);
        if (device::lane_index() == 0) {
          word = *reinterpret_cast<u32*>(mine);
        }
      },
      {.shared_bytes = 1024}
  ));
  return word;
}

constexpr u32 kPoisonedWord = 0x7fff7fffu;

TEST(AsyncCopy, HasLandedAfterTheWait) {
  EXPECT_EQ(
      first_word_after([](char* mine, const u32* source) {
        device::cp_async_16(mine, source, true);
        device::cp_async_commit();
        device::cp_async_wait<0>();
      }),
      1u
  );
  EXPECT_EQ(
      first_word_after([](char* mine, const u32* source) {
        device::cp_async_4(mine, source + 3, true);
        device::cp_async_commit();
        device::cp_async_wait<0>();
      }),
      4u
  );
}

TEST(AsyncCopy, ShowsAMissingWait) {
  EXPECT_EQ(
      first_word_after([](char* mine, const u32* source) {
        device::cp_async_16(mine, source, true);
        device::cp_async_commit();
      }),
      kPoisonedWord
  );
}

TEST(AsyncCopy, ShowsAMissingCommit) {
  EXPECT_EQ(
      first_word_after([](char* mine, const u32* source) {
        device::cp_async_16(mine, source, true);
        device::cp_async_wait<0>();
      }),
      kPoisonedWord
  );
}

TEST(AsyncCopy, LeavesTheLatestGroupUnderWay) {
  EXPECT_EQ(
      first_word_after([](char* mine, const u32* source) {
        device::cp_async_16(mine, source, true);
        device::cp_async_commit();
        device::cp_async_16(mine + 512, source + 4, true);
        device::cp_async_commit();
        device::cp_async_wait<1>();
      }),
      1u
  );
}

TEST(AsyncCopy, FillsWithZerosWhatIsNotValid) {
  EXPECT_EQ(
      first_word_after([](char* mine, const u32*) {
        device::cp_async_16(mine, nullptr, false);
        device::cp_async_commit();
        device::cp_async_wait<0>();
      }),
      0u
  );
}

TEST(WideAccesses, MoveSixteenBytes) {
  alignas(16) const u32 from[4] = {1, 2, 3, 4};
  alignas(16) u32 to[4] = {};
  expect_no_fault(run_kernel([&] {
    if (device::lane_index() == 0) {
      device::store_16(to, device::load_16(from));
    }
  }));
  EXPECT_TRUE(std::equal(from, from + 4, to));
}

}  // namespace
}  // namespace whet
