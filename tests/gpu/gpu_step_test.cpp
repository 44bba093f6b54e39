// Generated CUDA kernels of the seeds suite on a GPU: values against an interpreter in double, and
// graphs of 1, 3 and 20 steps against single launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "jit/cuda_device.hpp"
#include "support/instance_checks.hpp"
#include "support/other_programs.hpp"
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
    list.push_back({"medium" + suffix, testing::mlp(128, 512, 1024, 256, dtype), limit});
  }
  list.push_back({"ragged_f16", testing::mlp(9, 33, 21, 7, DType::F16), 1e-2});
  list.push_back({"tied_bf16", testing::tied(12, 24, 40, DType::BF16), 1e-2});
  return list;
}

/// Skips where there is no GPU.
class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const DriverInfo driver = query_driver();
    if (driver.devices.empty()) {
      GTEST_SKIP() << driver.problem;
    }
  }
};

/// Whether this GPU has the partition.
bool is_known(const std::string& configuration, const DeviceLimits& limits) {
  return limits.feature_level >= 90 || configuration.find("cluster") == std::string::npos;
}

class GpuStep : public OnGpu, public ::testing::WithParamInterface<int> {};
class GpuShadows : public OnGpu {};
class GpuPartitions : public OnGpu {};
class GpuInstances : public OnGpu {};
class GpuOtherPrograms : public OnGpu {};

TEST_P(GpuStep, AgreesWithTheInterpreterAndReplays) {
  const Case test = cases()[static_cast<std::size_t>(GetParam())];
  const DeviceLimits limits = query_device_limits("");
  const testing::StepData data =
      testing::draw_data(test.program, 2, 0.005);  // small: 80 steps must not diverge
  constexpr int kSteps = 4;
  const testing::StepResult expected = testing::interpret(test.program, data, kSteps);
  const auto executor = make_cuda_executor("");
  for (const std::string configuration : {
           "",
           "partition=block threads=256 tile_m=16 tile_n=32",
           "partition=grid blocks=64 engine=simt tile_m=32 tile_n=32 split_k=2",
           "partition=grid operands=staged tile_m=32 tile_n=32 tile_k=64 split_k=4 stages=3",
           "partition=grid steps_per_launch=4 tile_m=16 tile_n=64 launch_overlap=off",
           "partition=grid blocks=16 operands=staged fuse_epilogue=off fuse_update=off "
           "inline_casts=off tile_m=16 tile_n=32 split_k=4",
           "partition=cluster",
           "partition=cluster blocks=16 steps_per_launch=4",
           "partition=block weights=resident steps_per_launch=4",
           "partition=block weights=registers steps_per_launch=4",
       }) {
    if (!is_known(configuration, limits)) {
      continue;
    }
    SCOPED_TRACE(test.name + ": " + configuration);
    const auto built = testing::build_step(test.program, configuration, limits);
    ASSERT_TRUE(built.has_value());
    {
      testing::StepRunner runner(
          *executor, test.program, built->artifact, built->source.plan, data
      );
      const testing::StepResult got = runner.run(kSteps);
      EXPECT_LE(
          testing::largest_error(got, expected, data, built->schedule.steps_per_launch), test.limit
      );
    }
    double step_us = 0.0;
    for (const int launches : {1, 3, 20}) {
      testing::StepRunner single(
          *executor, test.program, built->artifact, built->source.plan, data
      );
      testing::StepRunner graph(*executor, test.program, built->artifact, built->source.plan, data);
      const int steps = launches * built->source.plan.steps_per_launch;
      const testing::StepResult by_launch = single.run(steps);
      const testing::StepResult by_graph = graph.replay(steps);
      EXPECT_EQ(by_graph.state.back(), by_launch.state.back()) << launches << " launches a graph";
      step_us = graph.time_replays_ns(steps, 5) / steps * 1e-3;
    }
    std::printf(
        "%-18s %7.2f us a step in a graph of 20 launches: %s\n",
        test.name.c_str(),
        step_us,
        configuration.c_str()
    );
  }
}

TEST_F(GpuShadows, FollowStateThatOthersWroteOnceRefreshed) {
  const Program program = testing::mlp(64, 256, 512, 128, DType::BF16);
  const testing::StepData data = testing::draw_data(program, 2, 0.005);
  const auto executor = make_cuda_executor("");
  for (const std::string configuration : {"shadows=on", "partition=block shadows=on"}) {
    SCOPED_TRACE(configuration);
    const auto built = testing::build_step(program, configuration, query_device_limits(""));
    ASSERT_TRUE(built.has_value());
    ASSERT_TRUE(built->source.plan.has_shadows);
    testing::StepRunner runner(*executor, program, built->artifact, built->source.plan, data);
    const testing::StepResult first = runner.replay(4);
    runner.restore_state(true);
    EXPECT_EQ(runner.replay(4), first) << "a captured graph goes on from the restored state";
    runner.restore_state(false);
    EXPECT_NE(runner.replay(4), first);
  }
}

TEST_F(GpuInstances, KeepApartOnTwoStreams) {
  const auto first = make_cuda_executor("");  // each has a stream of its own
  const auto second = make_cuda_executor("");
  for (const std::string configuration :
       {"partition=grid blocks=8", "partition=block", "partition=grid steps_per_launch=4"}) {
    testing::expect_instances_keep_apart(*first, *second, query_device_limits(""), configuration);
  }
}

TEST_F(GpuInstances, FollowRefreshInACapturedGraph) {
  const auto executor = make_cuda_executor("");
  for (const std::string configuration :
       {"partition=grid shadows=on", "partition=block shadows=on"}) {
    testing::expect_captured_steps_follow_refresh(
        *executor, query_device_limits(""), configuration
    );
  }
}

TEST_F(GpuInstances, GoOnInTheRingByThemselves) {
  const auto executor = make_cuda_executor("");
  for (const std::string configuration :
       {"partition=grid",
        "partition=cluster",
        "partition=block",
        "partition=block weights=registers steps_per_launch=4"}) {
    testing::expect_captured_launch_to_go_on(*executor, query_device_limits(""), configuration);
  }
}

TEST_F(GpuInstances, EndASpinForABlockThatNeverArrives) {
  const auto executor = make_cuda_executor("");
  testing::expect_spin_to_end(
      *executor,
      query_device_limits(""),
      "partition=grid blocks=4 shadows=off",
      "if (args.first_batch == 1u && block_index() == 1) return;"
  );
}

TEST_F(GpuOtherPrograms, AgreeWithTheInterpreter) {
  const DeviceLimits limits = query_device_limits("");
  const auto executor = make_cuda_executor("");
  constexpr int kSteps = 4;
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (const auto& [name, program] : testing::other_programs(dtype)) {
      const testing::StepData data = testing::draw_data(program, 2);
      const testing::StepResult expected = testing::interpret(program, data, kSteps);
      for (const std::string& configuration : testing::tried_configurations(program, limits, 0)) {
        SCOPED_TRACE(name + " " + std::string(dtype_name(dtype)) + ": " + configuration);
        const auto built = testing::build_step(program, configuration, limits);
        ASSERT_TRUE(built.has_value());
        testing::StepRunner runner(*executor, program, built->artifact, built->source.plan, data);
        EXPECT_LE(
            testing::largest_error(runner.run(kSteps), expected, data, 1),
            testing::error_limit(dtype)
        );
      }
    }
  }
}

/// Short, for compute-sanitizer: scripts/check_gpu.sh.
TEST_F(GpuPartitions, RunsAStepOfEach) {
  const Program program = testing::mlp(20, 40, 72, 24, DType::BF16);
  const testing::StepData data = testing::draw_data(program, 2, 0.005);
  const DeviceLimits limits = query_device_limits("");
  constexpr int kSteps = 4;
  const testing::StepResult expected = testing::interpret(program, data, kSteps);
  const auto executor = make_cuda_executor("");
  for (const std::string configuration :
       {"partition=block operands=direct",
        "partition=block operands=staged tile_m=16 tile_n=32 split_k=2",
        "partition=block weights=registers steps_per_launch=4",
        "partition=cluster operands=direct",
        "partition=grid blocks=8 operands=direct split_k=4",
        "partition=grid blocks=8 operands=staged stages=3 tile_m=16 tile_n=32 split_k=4"}) {
    if (!is_known(configuration, limits)) {
      continue;
    }
    SCOPED_TRACE(configuration);
    const auto built = testing::build_step(program, configuration, limits);
    ASSERT_TRUE(built.has_value());
    testing::StepRunner runner(*executor, program, built->artifact, built->source.plan, data);
    EXPECT_LE(
        testing::largest_error(
            runner.run(kSteps), expected, data, built->schedule.steps_per_launch
        ),
        1e-2
    );
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs,
    GpuStep,
    ::testing::Range(0, 12),
    [](const ::testing::TestParamInfo<int>& info) {
      return cases()[static_cast<std::size_t>(info.param)].name;
    }
);

}  // namespace
}  // namespace whet
