// Sums over more elements than one block of a two-pass reduction reaches, on the CPU target.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/large_reductions.hpp"

namespace whet {
namespace {

std::vector<std::string> configurations(const DeviceLimits& limits) {
  const std::string many = "blocks=" + std::to_string(limits.num_sms);
  return {
      "partition=block",
      "partition=grid blocks=1",
      "partition=grid " + many,
      "partition=grid fuse_epilogue=off fuse_pointwise=off " + many,
      "partition=grid fuse_update=off inline_casts=off tile_m=64 tile_n=128 " + many,
  };
}

TEST(LargeReduction, SumsAndMeansOfLongRowsMissNoElement) {
  const DeviceLimits limits = host_limits(0);
  const auto executor = make_cpu_executor(limits.num_sms);
  for (const std::int64_t size : {262144, 300000}) {
    for (const DType dtype : {DType::F32, DType::BF16}) {
      const Program program = testing::long_sums(size, dtype);
      const testing::StepData data = testing::whole_numbers(program);
      const testing::StepResult expected = testing::interpret(program, data, 1);
      for (const std::string& configuration : configurations(limits)) {
        SCOPED_TRACE(fmt::format("{} {}: {}", size, dtype_name(dtype), configuration));
        EXPECT_EQ(testing::run_step(program, data, configuration, limits, *executor), expected);
      }
    }
  }
}

TEST(LargeReduction, LeastSquaresOver512RowsAndColumnsIsRight) {
  const DeviceLimits limits = host_limits(0);
  const auto executor = make_cpu_executor(limits.num_sms);
  for (const DType dtype : {DType::F32, DType::BF16}) {
    const Program program = testing::least_squares(512, 512, 512, dtype);
    const testing::StepData data = testing::draw_data(program, 1);
    const testing::StepResult expected = testing::interpret(program, data, 1);
    for (const std::string& configuration : configurations(limits)) {
      SCOPED_TRACE(fmt::format("{}: {}", dtype_name(dtype), configuration));
      const testing::StepResult got =
          testing::run_step(program, data, configuration, limits, *executor);
      EXPECT_LE(testing::largest_error(got, expected, data, 1), dtype == DType::F32 ? 2e-5 : 1e-3);
    }
  }
}

}  // namespace
}  // namespace whet
