// Generated CPU kernels against an interpreter in double.
#include <gtest/gtest.h>

#include "support/programs.hpp"
#include "support/step_runner.hpp"

namespace whet {
namespace {

struct Case {
  std::string name;
  Program program;
  double limit;  ///< sums run in another order, which flips a rounding here and there
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const DType dtype : {DType::BF16, DType::F32}) {
    const std::string suffix = dtype == DType::F32 ? "_f32" : "_bf16";
    const double limit = dtype == DType::F32 ? 5e-4 : 1e-2;
    list.push_back({"tiny_online" + suffix, testing::mlp(1, 64, 64, 1, dtype), limit});
    list.push_back({"online" + suffix, testing::mlp(16, 64, 128, 16, dtype), limit});
    list.push_back({"head" + suffix, testing::head(32, 128, 10, dtype), limit});
    list.push_back({"small" + suffix, testing::mlp(64, 256, 512, 128, dtype), limit});
    list.push_back({"medium_ragged" + suffix, testing::mlp(36, 70, 90, 30, dtype), limit});
  }
  list.push_back({"ragged_f16", testing::mlp(9, 33, 21, 7, DType::F16), 1e-2});
  list.push_back({"tied_bf16", testing::tied(12, 24, 40, DType::BF16), 1e-2});
  list.push_back({"residual_f32", testing::residual(10, 36, DType::F32), 5e-4});
  list.push_back({"swap", testing::swap(5, 7), 1e-7});
  return list;
}

class CpuStep : public ::testing::TestWithParam<int> {};

TEST_P(CpuStep, AgreesWithTheInterpreter) {
  const Case test = cases()[static_cast<std::size_t>(GetParam())];
  const testing::StepData data = testing::draw_data(test.program, 2);
  constexpr int kSteps = 4;
  const testing::StepResult expected = testing::interpret(test.program, data, kSteps);
  DeviceLimits limits = host_limits(0);
  const std::string many = std::to_string(limits.num_sms);
  for (const std::string& configuration : {
           std::string("partition=block"),
           "partition=grid blocks=" + many,
           "partition=grid tile_m=16 tile_n=256 unroll=6 fuse_epilogue=off blocks=" + many,
           std::string("partition=block tile_m=64 tile_n=32 unroll=8 inline_casts=off"),
           "partition=grid tile_m=8 tile_n=16 unroll=2 fuse_update=off fuse_pointwise=off blocks=" +
               many,
           "partition=grid tile_m=128 tile_n=128 steps_per_launch=4 step_number=device blocks=" +
               many,
       }) {
    SCOPED_TRACE(test.name + ": " + configuration);
    const auto built = testing::build_step(test.program, configuration, limits);
    ASSERT_TRUE(built.has_value());
    const auto executor = make_cpu_executor(limits.num_sms);
    testing::StepRunner runner(*executor, test.program, built->artifact, built->source.plan, data);
    const testing::StepResult got = runner.run(kSteps);
    EXPECT_LE(
        testing::largest_error(got, expected, data, built->schedule.steps_per_launch), test.limit
    );
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs,
    CpuStep,
    ::testing::Range(0, 14),
    [](const ::testing::TestParamInfo<int>& info) {
      return cases()[static_cast<std::size_t>(info.param)].name;
    }
);

}  // namespace
}  // namespace whet
