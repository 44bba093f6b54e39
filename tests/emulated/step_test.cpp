// Generated CUDA text, run on the CPU in several thread orders, against an interpreter in double.
#include <gtest/gtest.h>

#include "support/programs.hpp"
#include "support/step_runner.hpp"

namespace whet {
namespace {

using testing::BuiltStep;
using testing::StepResult;

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
    list.push_back({"small_ragged" + suffix, testing::mlp(20, 40, 72, 24, dtype), limit});
    list.push_back({"medium_ragged" + suffix, testing::mlp(36, 70, 90, 30, dtype), limit});
  }
  list.push_back({"ragged_f16", testing::mlp(9, 33, 21, 7, DType::F16), 1e-2});
  // A sum so long that lanes and groups share it, some of which find none left.
  list.push_back({"one_row_f32", testing::mlp(1, 60, 132, 1, DType::F32), 5e-4});
  list.push_back({"tied_bf16", testing::tied(12, 24, 40, DType::BF16), 1e-2});
  list.push_back({"residual_f32", testing::residual(10, 36, DType::F32), 5e-4});
  list.push_back({"swap", testing::swap(5, 7), 1e-7});
  return list;
}

/// All partitions, both engines, operands staged and direct, split-K 1 and more, lanes that share
/// K, tasks side by side and one after the other, each fusion on and off.
const std::vector<std::string>& configurations() {
  static const std::vector<std::string> list{
      "blocks=8",
      "partition=block threads=128 split_k=1 tile_m=64 tile_n=64",
      "blocks=4 engine=simt operands=staged threads=128 split_k=2 tile_m=32 tile_n=32 tile_k=32 "
      "stages=3",
      "blocks=8 operands=staged fuse_epilogue=off fuse_update=off split_k=2 tile_k=32 stages=1",
      "blocks=8 fuse_pointwise=off inline_casts=off tile_m=32 tile_n=64 threads=128 split_k=1",
      "partition=block operands=staged threads=256 split_k=8 tile_m=16 tile_n=32 tile_k=128 "
      "inline_casts=off "
      "fuse_update=off",
      "blocks=2 operands=staged steps_per_launch=4 skew=0 stages=4 tile_n=64",
      "blocks=8 engine=simt tile_m=64 tile_n=64 tile_k=16 split_k=4 fuse_pointwise=off",
      "partition=block engine=simt threads=128 split_k=4 tile_m=16 tile_n=32 steps_per_launch=4 "
      "fuse_epilogue=off",
      "blocks=4 operands=staged threads=512 tile_m=64 tile_n=64 split_k=4 tile_k=64 "
      "fuse_update=off",
      "partition=block threads=512 split_k=4 tile_m=32 tile_n=32",
      "partition=block teams=off threads=128 split_k=2 tile_m=32 tile_n=32 steps_per_launch=4",
      "partition=block weights=resident steps_per_launch=4",
      "partition=block inputs=global weights=resident steps_per_launch=4",
      "partition=block weights=resident operands=staged fuse_update=off",
      "partition=block weights=registers steps_per_launch=4",
      "partition=block weights=registers steps_per_launch=4 threads=128 split_k=2 teams=off "
      "tile_m=32 tile_n=32",
      "partition=block weights=registers engine=simt fuse_update=off",
      "partition=block engine=simt k_lanes=most",
      "blocks=8 engine=simt threads=512 split_k=4 k_lanes=most steps_per_launch=4",
      "partition=block engine=simt threads=128 tile_m=16 tile_n=32 split_k=8 k_lanes=most "
      "weights=resident fuse_epilogue=off",
      "partition=cluster",
      "partition=cluster blocks=4 operands=staged threads=128 steps_per_launch=4 teams=off "
      "early_reads=off",
      "partition=cluster blocks=2 engine=simt threads=128 tile_m=16 tile_n=16",
      "partition=grid blocks=4 step_number=device",
  };
  return list;
}

class EmulatedStep : public ::testing::TestWithParam<int> {};

TEST_P(EmulatedStep, AgreesWithTheInterpreterInEveryThreadOrder) {
  const Case test = cases()[static_cast<std::size_t>(GetParam())];
  const testing::StepData data = testing::draw_data(test.program, 2);
  constexpr int kSteps = 4;
  const StepResult expected = testing::interpret(test.program, data, kSteps);
  for (std::size_t c = 0; c < configurations().size(); ++c) {
    const std::string& configuration = configurations()[c];
    SCOPED_TRACE(test.name + ": " + configuration);
    const std::optional<BuiltStep> built = testing::build_step(
        test.program,
        configuration,
        emulated_limits(),
        c == 0 ? AccessChecks::All : AccessChecks::OfHelpers
    );
    ASSERT_TRUE(built.has_value());
    std::optional<StepResult> first;
    using Order = EmulationOptions::Order;
    for (const EmulationOptions& order :
         {EmulationOptions{Order::Forward, 0},
          EmulationOptions{Order::Reverse, 0},
          EmulationOptions{Order::Random, 1},
          EmulationOptions{Order::Random, 2}}) {
      const auto executor = make_emulated_executor(order);
      testing::StepRunner runner(
          *executor, test.program, built->artifact, built->source.plan, data
      );
      StepResult got = runner.run(kSteps);
      if (!first) {
        EXPECT_LE(
            testing::largest_error(got, expected, data, built->schedule.steps_per_launch),
            test.limit
        );
        first = std::move(got);
      } else {
        EXPECT_EQ(got, *first) << "the result depends on the order of threads";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs,
    EmulatedStep,
    ::testing::Range(0, 15),
    [](const ::testing::TestParamInfo<int>& info) {
      return cases()[static_cast<std::size_t>(info.param)].name;
    }
);

TEST(EmulatedShadows, FollowStateThatOthersWroteOnceRefreshed) {
  const Program program = testing::mlp(20, 40, 72, 24, DType::BF16);
  const testing::StepData data = testing::draw_data(program, 2, 0.5);
  for (const std::string& configuration :
       {"blocks=4 shadows=on", "partition=block shadows=on", "blocks=4 shadows=on teams=off"}) {
    SCOPED_TRACE(configuration);
    const auto built = testing::build_step(program, configuration, emulated_limits());
    ASSERT_TRUE(built.has_value());
    ASSERT_TRUE(built->source.plan.has_shadows);
    const auto executor = make_emulated_executor({});
    testing::StepRunner runner(*executor, program, built->artifact, built->source.plan, data);
    const StepResult first = runner.run(2);
    runner.restore_state(true);
    EXPECT_EQ(runner.run(2), first);
    runner.restore_state(false);
    EXPECT_NE(runner.run(2), first) << "the copies are those of the state before";
    runner.restore_state(true);
    EXPECT_EQ(runner.run(2), first);
  }
}

}  // namespace
}  // namespace whet
