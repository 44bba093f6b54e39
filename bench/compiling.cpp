#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"
#include "bench_case.hpp"
#include "bound_step.hpp"
#include "jit/compile.hpp"

namespace whet::bench {
namespace {

namespace fs = std::filesystem;

/// Each time into an empty cache.
void bench_compile(benchmark::State& state, const Program& program, const DeviceLimits& limits) {
  const KernelSource source = default_source(program, limits);
  const fs::path folder =
      fs::temp_directory_path() / ("whet-bench-compile-" + std::to_string(::getpid()));
  Resources resources;
  for (auto _ : state) {
    try {
      resources = compile_default(source, folder).resources;
    } catch (const EnvironmentError& error) {
      state.SkipWithError(error.what());
      break;
    }
    state.PauseTiming();
    fs::remove_all(folder);
    state.ResumeTiming();
  }
  fs::remove_all(folder);
  if (limits.target != Target::Cpu) {
    state.counters["registers"] = static_cast<double>(resources.registers);
  }
}

}  // namespace

void register_compiling(const std::vector<Case>& cases, const DeviceLimits& limits) {
  for (const Case& entry : cases) {
    const Program& program = entry.workload.step;
    const std::string name =
        "compile/" + entry.name + "/" + std::string(target_name(limits.target));
    benchmark::RegisterBenchmark(
        name.c_str(), [=](benchmark::State& state) { bench_compile(state, program, limits); }
    )
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Iterations(3);
  }
}

}  // namespace whet::bench
