#include <benchmark/benchmark.h>

#include "base/error.hpp"
#include "bench_case.hpp"
#include "bound_step.hpp"

namespace whet::bench {
namespace {

std::unique_ptr<Executor> make_executor(const DeviceLimits& limits) {
  return limits.target == Target::Cpu ? make_cpu_executor(limits.num_sms) : make_cuda_executor("");
}

/// A step, by the device's clock, where many follow each other.
void bench_step(benchmark::State& state, const Program& program, const DeviceLimits& limits) {
  constexpr int kLaunches = 20;
  const auto executor = make_executor(limits);
  BoundStep step(*executor, program, limits);
  const std::unique_ptr<Replay> sequence = step.record(kLaunches);
  executor->time_replays_ns(*sequence, 1);
  const double steps = kLaunches * step.steps_per_launch();
  for (auto _ : state) {
    state.SetIterationTime(executor->time_replays_ns(*sequence, 1) * 1e-9 / steps);
  }
}

/// One launch, by the host's clock, from the call to the end of the wait.
void bench_launch(benchmark::State& state, const Program& program, const DeviceLimits& limits) {
  const auto executor = make_executor(limits);
  BoundStep step(*executor, program, limits);
  step.launch();
  for (auto _ : state) {
    step.launch();
  }
}

}  // namespace

void register_steps(const std::vector<Case>& cases, const DeviceLimits& limits) {
  for (const Case& entry : cases) {
    const Program& program = entry.workload.step;
    const std::string of = "/" + entry.name + "/" + std::string(target_name(limits.target));
    benchmark::RegisterBenchmark(
        ("step" + of).c_str(), [=](benchmark::State& state) { bench_step(state, program, limits); }
    )
        ->Unit(benchmark::kMicrosecond)
        ->UseManualTime()
        ->Iterations(50);
    benchmark::RegisterBenchmark(
        ("launch" + of).c_str(),
        [=](benchmark::State& state) { bench_launch(state, program, limits); }
    )
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
  }
}

}  // namespace whet::bench
