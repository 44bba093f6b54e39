#include <benchmark/benchmark.h>

#include "bench_case.hpp"
#include "bound_step.hpp"
#include "codegen/lower.hpp"
#include "schedule/resolve.hpp"
#include "schedule/search_space.hpp"
#include "schedule/verify.hpp"

namespace whet::bench {
namespace {

void bench_resolve(benchmark::State& state, const Program& program, const DeviceLimits& limits) {
  const Configuration defaults = SearchSpace(program, limits).default_configuration();
  for (auto _ : state) {
    benchmark::DoNotOptimize(resolve(program, defaults, limits));
  }
}

void bench_find_hazards(benchmark::State& state, const Program& program, const Schedule& schedule) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(find_hazards(program, schedule));
  }
}

void bench_lower(
    benchmark::State& state,
    const Program& program,
    const Schedule& schedule,
    const DeviceLimits& limits
) {
  std::size_t bytes = 0;
  for (auto _ : state) {
    bytes = lower(program, schedule, limits).text.size();
  }
  state.counters["text_bytes"] = static_cast<double>(bytes);
}

}  // namespace

void register_emission(const std::vector<Case>& cases, const DeviceLimits& limits) {
  for (const Case& entry : cases) {
    const Program& program = entry.workload.step;
    const std::string of = "/" + entry.name + "/" + std::string(target_name(limits.target));
    const Schedule schedule = default_schedule(program, limits);
    benchmark::RegisterBenchmark(("resolve" + of).c_str(), [=](benchmark::State& state) {
      bench_resolve(state, program, limits);
    })->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("find_hazards" + of).c_str(), [=](benchmark::State& state) {
      bench_find_hazards(state, program, schedule);
    })->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("lower" + of).c_str(), [=](benchmark::State& state) {
      bench_lower(state, program, schedule, limits);
    })->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace whet::bench
