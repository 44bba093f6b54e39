#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/programs.hpp"
#include "support/schedules.hpp"
#include "support/step_runner.hpp"
#include "support/text_edit.hpp"

// What holds of instances of a generated kernel on every executor of a target.

namespace whet::testing {

/// Two instances of one kernel with other data, whose launches take turns on two executors, which
/// may be two streams of a device, end where each ends alone.
inline void expect_instances_keep_apart(
    Executor& first, Executor& second, const DeviceLimits& limits, const std::string& configuration
) {
  SCOPED_TRACE(configuration);
  constexpr int kSteps = 8;
  const Program program = mlp(20, 40, 72, 24, DType::BF16);
  const StepData slow = draw_data(program, 2, 0.005);
  const StepData fast = draw_data(program, 3, 0.02);
  const auto built = build_step(program, configuration, limits);
  ASSERT_TRUE(built.has_value());
  const std::shared_ptr<const LoadedKernel> kernel =
      first.load(built->artifact, built->source.plan);
  const auto alone = [&](const StepData& data) {
    StepRunner runner(first, program, kernel, data);
    return runner.run(kSteps).state.back();
  };
  const std::vector<Values> slow_alone = alone(slow);
  const std::vector<Values> fast_alone = alone(fast);
  ASSERT_NE(slow_alone, fast_alone);

  StepRunner slow_runner(first, program, kernel, slow);
  StepRunner fast_runner(second, program, kernel, fast);
  for (int step = 0; step < kSteps; step += kernel->plan().steps_per_launch) {
    slow_runner.launch(step);
    fast_runner.launch(step);
  }

  EXPECT_EQ(slow_runner.state(), slow_alone);
  EXPECT_EQ(fast_runner.state(), fast_alone);
}

/// A captured sequence gives what launches give, goes on from state that others wrote once the
/// instance is refreshed, and not before.
inline void expect_captured_steps_follow_refresh(
    Executor& executor, const DeviceLimits& limits, const std::string& configuration
) {
  SCOPED_TRACE(configuration);
  constexpr int kSteps = 4;
  const Program program = mlp(20, 40, 72, 24, DType::BF16);
  const StepData data = draw_data(program, 2, 0.05);
  const auto built = build_step(program, configuration, limits);
  ASSERT_TRUE(built.has_value());
  ASSERT_TRUE(built->source.plan.has_shadows);
  StepRunner launched(executor, program, built->artifact, built->source.plan, data);
  StepRunner captured(executor, program, launched.kernel(), data);
  const std::unique_ptr<Replay> sequence = captured.record(kSteps);

  const StepResult first = captured.replay(*sequence);
  EXPECT_EQ(first.state.back(), launched.run(kSteps).state.back());
  captured.restore_state(true);
  EXPECT_EQ(captured.replay(*sequence), first);
  captured.restore_state(false);
  EXPECT_NE(captured.replay(*sequence), first) << "the copies are those of the state before";
  captured.restore_state(true);
  EXPECT_EQ(captured.replay(*sequence), first);
}

/// One captured launch of a kernel that counts batches, replayed, gives what launches give that are
/// told their batches, and goes on from the batch that the instance is sent to.
inline void expect_captured_launch_to_go_on(
    Executor& executor, const DeviceLimits& limits, const std::string& configuration
) {
  SCOPED_TRACE(configuration);
  constexpr int kBatches = 3;
  constexpr int kReplays = 5;
  const Program program = mlp(20, 40, 72, 24, DType::BF16);
  const StepData data = draw_data(program, kBatches, 0.05);
  const auto told = build_step(program, configuration, limits);
  const auto counting = build_step(program, configuration + " step_number=device", limits);
  ASSERT_TRUE(told && counting);
  const int steps = told->source.plan.steps_per_launch;
  StepRunner expected(executor, program, told->artifact, told->source.plan, data);
  StepRunner runner(executor, program, counting->artifact, counting->source.plan, data);
  const std::unique_ptr<Replay> launch = runner.record(steps);

  for (int i = 0; i < kReplays; ++i) {
    EXPECT_EQ(runner.replay(*launch).state.back(), expected.run(steps, i * steps).state.back());
  }
  runner.restore_state(true);
  expected.restore_state(true);
  runner.instance().seek(1);
  EXPECT_EQ(runner.replay(*launch).state.back(), expected.run(steps, 1).state.back());
}

/// In a generated kernel one of whose blocks leaves before the first barrier, the others give up
/// and say where; launches behind it change no state; the instance refuses more until the state is
/// restored and it is refreshed. `leave` is the statement by which block 1 leaves when its launch
/// begins with batch 1.
inline void expect_spin_to_end(
    Executor& executor,
    const DeviceLimits& limits,
    const std::string& configuration,
    const std::string& leave
) {
  SCOPED_TRACE(configuration);
  const Program program = mlp(20, 40, 72, 24, DType::BF16);
  const StepData data = draw_data(program, 2, 0.05);
  const Schedule schedule = resolved(program, configuration, limits);
  KernelSource source = lower(program, schedule, limits);
  const std::string body = "  u32 batch = args.first_batch;";
  source.text = edited(source.text, body, "  " + leave + "\n" + body);
  const CompileOutcome compiled = compile(source, {.cache_folder = test_cache()});
  ASSERT_EQ(compiled.status, Status::Ok) << compiled.detail;
  StepRunner runner(executor, program, compiled.artifact, source.plan, data);
  StepRunner good(executor, program, runner.kernel(), data);
  StepInstance& instance = runner.instance();
  instance.set_spin_limit(1000);
  const std::vector<Values> before = runner.state();

  runner.launch(1);
  runner.launch(0);  // the host has not looked yet
  const std::optional<std::uint32_t> place = instance.hang_place();

  ASSERT_TRUE(place.has_value());
  const auto first = std::ranges::find_if(schedule.phases, [](const Phase& phase) {
    return is_between_blocks(phase.edge_before);
  });
  EXPECT_EQ(*place, first - schedule.phases.begin()) << "the first barrier of a step";
  EXPECT_EQ(runner.state(), before);
  EXPECT_THROW(runner.launch(0), DeviceFault);
  runner.restore_state(true);
  instance.set_spin_limit(1u << 30);  // the other thread may be late on a busy machine
  EXPECT_EQ(runner.run(1), good.run(1));
}

}  // namespace whet::testing
