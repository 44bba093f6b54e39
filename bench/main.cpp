// whet-bench: what whet itself costs, and steps in their default configuration, in Google
// Benchmark's JSON (--benchmark_format=json), which its compare.py reads. A first argument that is
// no flag is a suite file.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/error.hpp"
#include "bench_case.hpp"
#include "jit/cuda_device.hpp"

namespace {

namespace fs = std::filesystem;
using namespace whet;

std::vector<bench::Case> load_cases(const fs::path& suite) {
  std::vector<bench::Case> cases;
  for (const SuiteEntry& entry : load_suite(suite).entries) {
    cases.push_back({entry.name, load_workload(entry.workload, entry.dims)});
  }
  return cases;
}

void register_all(const std::vector<bench::Case>& cases) {
  const DeviceLimits host = host_limits(0);
  const DeviceLimits h200 =
      load_device_limits("h200", fs::path(WHET_SOURCE_DIR) / "configs/devices");
  bench::register_emission(cases, host);
  bench::register_emission(cases, h200);
  bench::register_compiling(cases, host);
  bench::register_compiling(cases, h200);
  bench::register_steps(cases, host);
  const DriverInfo driver = query_driver();
  if (driver.devices.empty()) {
    fmt::print(stderr, "whet-bench: no steps on a GPU: {}\n", driver.problem);
  } else {
    bench::register_steps(cases, query_device_limits(""));
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc > 1 && argv[1][0] == '-') {
    benchmark::ReportUnrecognizedArguments(argc, argv);
    fmt::print(stderr, "whet-bench: --help lists the flags; the one argument is a suite file\n");
    return 2;
  }
  try {
    const fs::path suite =
        argc > 1 ? fs::path(argv[1]) : fs::path(WHET_SOURCE_DIR) / "workloads/seeds.json";
    if (argc > 2) {
      throw UserError(fmt::format("expected at most a suite file, found '{}' too", argv[2]));
    }
    register_all(load_cases(suite));
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
  } catch (const UserError& error) {
    fmt::print(stderr, "whet-bench: {}\n", error.what());
    return 2;
  } catch (const EnvironmentError& error) {
    fmt::print(stderr, "whet-bench: {}\n", error.what());
    return 3;
  }
  return 0;
}
