// A small sample of the space compiled for GPUs that are not there; scripts/sweep_nvrtc.sh takes a
// large one.
#include "support/compile_sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "jit/nvrtc.hpp"

namespace whet {
namespace {

TEST(CompileSweep, TwentyFourPointsCompileForThreeArchitecturesWithinTheirLimits) {
  try {
    find_nvrtc("");
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  const std::filesystem::path source_folder = WHET_SOURCE_DIR;
  const std::vector<testing::SweepWorkload> workloads = testing::seeds_workloads(source_folder);
  ASSERT_EQ(workloads.size(), 10u);
  const TemporaryFolder cache("whet-sweep-");
  int num_points = 0;
  std::set<std::string> seen;
  for (const char* device : {"a100", "h200", "b200"}) {
    const DeviceLimits limits = load_device_limits(device, source_folder / "configs/devices");
    for (int i = 0; i < 8; ++i) {
      const auto& [name, workload] = workloads[static_cast<std::size_t>(num_points) % 10];
      testing::SweepOrder order(workload, limits, static_cast<std::uint64_t>(num_points++));
      // The order begins with points near the default; every other time, one from further on.
      for (int skipped = 0; skipped < i % 2 * 3; ++skipped) {
        order.next();
      }
      const Configuration configuration = order.next();
      SCOPED_TRACE(fmt::format("{} {} {}", limits.arch, name, to_text(configuration)));
      for (const char* knob : {"partition", "engine", "fuse_update", "fuse_epilogue"}) {
        seen.insert(knob + ("=" + configuration.values.at(knob)));
      }
      const CompileResponse response =
          testing::compile_point(workload, configuration, limits, cache.path());
      EXPECT_EQ(response.status, Status::Ok) << response.detail;
      EXPECT_GT(response.resources.registers, 0);
      EXPECT_LE(response.resources.registers, 255);
      EXPECT_LE(response.resources.registers * response.plan.threads, limits.max_registers_per_sm);
      EXPECT_LE(
          response.resources.static_shared_bytes + response.resources.dynamic_shared_bytes,
          limits.max_shared_bytes_per_block
      );
      EXPECT_FALSE(response.cache_hit);
    }
  }
  EXPECT_EQ(seen.size(), 9u) << fmt::format("only {}", fmt::join(seen, ", "));
}

}  // namespace
}  // namespace whet
