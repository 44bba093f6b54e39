// Profile builds on the CPU target, and compiled for GPUs that are not there.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "jit/nvrtc.hpp"
#include "support/programs.hpp"
#include "support/stamp_checks.hpp"
#include "support/step_runner.hpp"

namespace whet {
namespace {

TEST(ProfileBuild, StampsOfTheCpuTargetAreInOrderAndChangeNoResult) {
  const Program program = testing::mlp(64, 256, 512, 128, DType::F32);
  const testing::StepData data = testing::draw_data(program, 2);
  const DeviceLimits limits = host_limits(0);
  constexpr int kSteps = 4;
  for (const std::string& configuration :
       {std::string("partition=block"),
        "partition=grid blocks=" + std::to_string(limits.num_sms),
        "partition=grid steps_per_launch=4 blocks=" + std::to_string(limits.num_sms)}) {
    SCOPED_TRACE(configuration);
    const auto plain = testing::build_step(program, configuration, limits);
    const auto profile = testing::build_step(
        program, configuration, limits, AccessChecks::OfHelpers, {.profile = true}
    );
    ASSERT_TRUE(plain && profile);
    const auto executor = make_cpu_executor(limits.num_sms);
    testing::StepRunner without(*executor, program, plain->artifact, plain->source.plan, data);
    testing::StepRunner with(*executor, program, profile->artifact, profile->source.plan, data);

    EXPECT_EQ(with.run(kSteps), without.run(kSteps));
    testing::check_stamps(profile->source.plan, with.stamps());
  }
}

/// Each way to stamp an edge: launches that overlap and not, barriers in tiles and behind them.
TEST(ProfileBuild, CompilesForEachArchitecture) {
  try {
    find_nvrtc("");
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  const std::filesystem::path devices = WHET_SOURCE_DIR "/configs/devices";
  const Program program = testing::mlp(16, 64, 128, 16, DType::BF16);
  for (const char* device : {"a100", "h200", "b200"}) {
    const DeviceLimits limits = load_device_limits(device, devices);
    for (const char* configuration :
         {"partition=grid blocks=8",
          "partition=grid blocks=8 early_reads=off steps_per_launch=4",
          "partition=block shadows=on"}) {
      SCOPED_TRACE(std::string(device) + ": " + configuration);
      const auto built = testing::build_step(
          program, configuration, limits, AccessChecks::OfHelpers, {.profile = true}
      );
      ASSERT_TRUE(built.has_value());
      EXPECT_NE(built->source.text.find("%%globaltimer"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace whet
