// Profile builds in the emulation, whose stamps count each other.
#include <gtest/gtest.h>

#include "support/programs.hpp"
#include "support/stamp_checks.hpp"
#include "support/step_runner.hpp"

namespace whet {
namespace {

/// Barriers that all wait for and barriers that tiles wait for, teams, one block, several steps.
const std::vector<std::string>& configurations() {
  static const std::vector<std::string> list{
      "partition=grid blocks=8",
      "partition=grid blocks=8 early_reads=off operands=staged",
      "partition=grid blocks=4 teams=off steps_per_launch=4",
      "partition=cluster blocks=4",
      "partition=block threads=128",
      "partition=block steps_per_launch=4",
  };
  return list;
}

TEST(ProfileBuild, StampsAreInOrderAndChangeNoResult) {
  const Program program = testing::mlp(16, 64, 128, 16, DType::BF16);
  const testing::StepData data = testing::draw_data(program, 2);
  constexpr int kSteps = 4;
  bool any_waits_in_tiles = false;
  bool any_teams = false;
  for (const std::string& configuration : configurations()) {
    SCOPED_TRACE(configuration);
    const auto plain = testing::build_step(program, configuration, emulated_limits());
    const auto profile = testing::build_step(
        program, configuration, emulated_limits(), AccessChecks::All, {.profile = true}
    );
    ASSERT_TRUE(plain && profile);
    for (const StampedPhase& phase : profile->source.plan.stamps->phases) {
      any_waits_in_tiles = any_waits_in_tiles || phase.waits_in_tiles;
      any_teams = any_teams || phase.has_teams;
    }
    const auto executor = make_emulated_executor({EmulationOptions::Order::Random, 3});
    testing::StepRunner without(*executor, program, plain->artifact, plain->source.plan, data);
    testing::StepRunner with(*executor, program, profile->artifact, profile->source.plan, data);

    EXPECT_EQ(with.run(kSteps), without.run(kSteps));
    testing::check_stamps(profile->source.plan, with.stamps());
  }
  EXPECT_TRUE(any_waits_in_tiles);
  EXPECT_TRUE(any_teams);
}

TEST(ProfileBuild, LeavesThePlainBuildAlone) {
  const Program program = testing::mlp(16, 64, 128, 16, DType::BF16);
  const auto built = testing::build_step(program, "partition=grid blocks=8", emulated_limits());
  ASSERT_TRUE(built.has_value());

  const KernelSource profile =
      lower(program, built->schedule, emulated_limits(), {.profile = true});

  EXPECT_EQ(built->source.text.find("stamp"), std::string::npos);
  EXPECT_NE(profile.text.find("stamps.at(1, Stamp::kEnd);"), std::string::npos);
  EXPECT_FALSE(built->source.plan.stamps.has_value());
  EXPECT_GE(profile.plan.stamps->offset_bytes, built->source.plan.workspace_bytes);
  EXPECT_EQ(
      profile.plan.workspace_bytes,
      profile.plan.stamps->offset_bytes + 8u * 8u * profile.plan.stamps->words_per_block()
  );
}

}  // namespace
}  // namespace whet
