// Sums over more elements than one block of a two-pass reduction reaches, by generated CUDA text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/large_reductions.hpp"

namespace whet {
namespace {

const std::vector<std::string>& configurations() {
  static const std::vector<std::string> list{
      "partition=block threads=256",
      "partition=grid blocks=1 threads=512",
      "partition=grid blocks=8 threads=256",
      "partition=grid blocks=4 threads=128 fuse_epilogue=off fuse_pointwise=off",
      "partition=grid blocks=16 blocks_per_sm=2 threads=128 fuse_update=off inline_casts=off",
  };
  return list;
}

TEST(LargeReduction, SumsAndMeansOfLongRowsMissNoElementWhenEmulated) {
  const auto executor = make_emulated_executor({});
  for (const std::int64_t size : {262144, 300000}) {
    for (const DType dtype : {DType::F32, DType::BF16}) {
      const Program program = testing::long_sums(size, dtype);
      const testing::StepData data = testing::whole_numbers(program);
      const testing::StepResult expected = testing::interpret(program, data, 1);
      for (const std::string& configuration : configurations()) {
        SCOPED_TRACE(fmt::format("{} {}: {}", size, dtype_name(dtype), configuration));
        EXPECT_EQ(
            testing::run_step(program, data, configuration, emulated_limits(), *executor), expected
        );
      }
    }
  }
}

// The loss alone sums more than 131,072 elements; the products are kept short, as emulating is
// slow.
TEST(LargeReduction, LeastSquaresOver512RowsAndColumnsIsRightWhenEmulated) {
  const auto executor = make_emulated_executor({});
  for (const DType dtype : {DType::F32, DType::BF16}) {
    const Program program = testing::least_squares(512, 8, 512, dtype);
    const testing::StepData data = testing::draw_data(program, 1);
    const testing::StepResult expected = testing::interpret(program, data, 1);
    for (const std::string& configuration : configurations()) {
      SCOPED_TRACE(fmt::format("{}: {}", dtype_name(dtype), configuration));
      const testing::StepResult got =
          testing::run_step(program, data, configuration, emulated_limits(), *executor);
      EXPECT_LE(testing::largest_error(got, expected, data, 1), dtype == DType::F32 ? 2e-5 : 1e-3);
    }
  }
}

}  // namespace
}  // namespace whet
