// The kernels of the calibration, on the emulation and through NVRTC.
#include "harness/probes.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "jit/nvrtc_compile.hpp"
#include "model/calibration.hpp"
#include "support/test_cache.hpp"

namespace whet {
namespace {

CompileOptions cached_options() {
  CompileOptions options;
  options.cache_folder = testing::test_cache();
  return options;
}

TEST(Probes, RunOnTheEmulationWithoutARaceOrABadAccess) {
  const auto executor =
      make_emulated_executor({.order = EmulationOptions::Order::Random, .seed = 5});
  const DeviceLimits limits = emulated_limits();
  const Json document = run_probes(*executor, limits, cached_options(), 2);
  EXPECT_EQ(document.at("series").size(), calibration_series(limits).size());
  for (const Json& series : document.at("series")) {
    EXPECT_EQ(series.at("times_ns").size(), 2U);
    EXPECT_EQ(series.at("times_ns")[0].size(), 2U);
  }
}

TEST(Probes, SeriesCoverWhatTheCostsAreMadeOf) {
  // Times that grow with the work, at a clock: then only a missing series is refused.
  Json document{{"device", "d"}, {"launch_ns", {1.0}}, {"series", Json::array()}};
  const DeviceLimits limits =
      load_device_limits("h200", std::filesystem::path(WHET_SOURCE_DIR) / "configs/devices");
  for (const ProbeSeries& series : calibration_series(limits)) {
    document["series"].push_back(
        {{"probe", probe_name(series.grid.probe)},
         {"blocks", series.grid.blocks},
         {"work", probe_work(series.grid, limits)},
         {"overlaps", series.grid.overlaps},
         {"counts", {series.few, series.many}},
         {"times_ns", {{1.0 * series.few}, {1.0 * series.many}}},
         {"clock_mhz", 1000.0}}
    );
  }
  const DeviceCosts costs = costs_from_samples(JsonCursor::parse_text(document.dump(), "x"), "d");
  EXPECT_EQ(costs.grid_barriers.size(), 9U);
  EXPECT_EQ(costs.grid_barriers.back().blocks, 264);
}

TEST(Probes, RunOnTheHost) {
  const DeviceLimits limits = host_limits(2);
  const auto executor = make_cpu_executor(limits.num_sms);
  const Json document = run_probes(*executor, limits, cached_options(), 2);
  std::set<std::string> seen;
  for (const Json& series : document.at("series")) {
    seen.insert(series.at("probe").get<std::string>());
    EXPECT_EQ(series.at("times_ns")[1].size(), 2U);
  }
  EXPECT_EQ(seen.size(), probes_of(host_limits(1)).size());
}

TEST(Probes, CompileForEveryGeneration) {
  std::optional<Nvrtc> nvrtc;
  try {
    nvrtc.emplace(find_nvrtc({}));
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  const auto devices = std::filesystem::path(WHET_SOURCE_DIR) / "configs/devices";
  for (const char* device : {"a100", "h200", "b200"}) {
    const DeviceLimits limits = load_device_limits(device, devices);
    for (const Probe probe : probes_of(limits)) {
      const CompiledCode code = compile_with_nvrtc(
          *nvrtc,
          probe_source(
              {.probe = probe, .blocks = 4, .overlaps = limits.feature_level >= 90}, limits
          ),
          std::chrono::seconds(60)
      );
      EXPECT_EQ(code.status, Status::Ok) << device << " " << probe_name(probe) << code.detail;
      EXPECT_EQ(code.resources.spill_store_bytes, 0) << device << " " << probe_name(probe);
    }
  }
}

}  // namespace
}  // namespace whet
