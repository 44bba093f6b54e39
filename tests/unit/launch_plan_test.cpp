#include "artifact/launch_plan.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace whet {
namespace {

/// A plan in which no field has its default.
LaunchPlan full_plan() {
  LaunchPlan plan;
  plan.target = Target::Cuda;
  plan.arch = "sm_90a";
  plan.entry = "whet_other";
  plan.workload_key = "00ff";
  plan.blocks = 132;
  plan.threads = 256;
  plan.min_blocks_per_sm = 2;
  plan.dynamic_shared_bytes = 90'000;
  plan.workspace_bytes = std::size_t{1} << 33;
  plan.cooperative = true;
  plan.cluster = true;
  plan.overlaps = true;
  plan.arguments_in_memory = true;
  plan.steps_per_launch = 4;
  plan.counter_offset_bytes = 512;
  plan.arguments = {
      {KernelArgument::Role::Input, 1, DType::BF16, 1024, 1032},
      {KernelArgument::Role::Scalar, 0, DType::I64, 1, 1},
      {KernelArgument::Role::State, 2, DType::F32, 4096, 0},
      {KernelArgument::Role::Output, 3, DType::F16, 0, 0},
  };
  plan.stamps = StampPlan{
      .offset_bytes = 4096,
      .phases = {
          {.tasks = {"mm1.fwd", "map2"},
           .edge_before = Edge::Grid,
           .waits_in_tiles = true,
           .has_teams = true}}};
  return plan;
}

std::string refusal(const Json& json) {
  try {
    launch_plan_from_json(json);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LaunchPlan, ComesBackFromJsonAsItWas) {
  const std::string text = to_json(full_plan()).dump();
  EXPECT_EQ(launch_plan_from_json(Json::parse(text)), full_plan());
}

TEST(LaunchPlan, NamesTheFieldThatIsMissing) {
  Json json = to_json(full_plan());
  json.erase("blocks");
  EXPECT_EQ(refusal(json), "launch plan: field \"blocks\" is missing");
}

TEST(LaunchPlan, NamesTheFieldOfAnArgumentThatIsMissing) {
  Json json = to_json(full_plan());
  json["arguments"][2].erase("index");
  EXPECT_EQ(refusal(json), "launch plan.arguments[2]: field \"index\" is missing");
}

TEST(LaunchPlan, RefusesANumberThatIsNoInteger) {
  Json json = to_json(full_plan());
  json["threads"] = 256.0;
  EXPECT_EQ(
      refusal(json), "launch plan.threads: expected an integer in [1, 2147483647], found 256.0"
  );
}

TEST(LaunchPlan, RefusesANumberOutOfRange) {
  Json json = to_json(full_plan());
  for (const char* value : {"0", "-1", "2147483648", "18446744073709551615"}) {
    json["blocks"] = Json::parse(value);
    EXPECT_EQ(
        refusal(json),
        std::string("launch plan.blocks: expected an integer in [1, 2147483647], found ") + value
    );
  }
}

TEST(LaunchPlan, RefusesAnUnknownRole) {
  Json json = to_json(full_plan());
  json["arguments"][0]["role"] = "weight";
  EXPECT_EQ(
      refusal(json),
      "launch plan.arguments[0].role: expected input, scalar, state or output, found \"weight\""
  );
}

TEST(LaunchPlan, OfABuildWithoutStampsSaysNothingOfThem) {
  LaunchPlan plan = full_plan();
  plan.stamps.reset();
  EXPECT_FALSE(to_json(plan).contains("stamps"));
  EXPECT_EQ(launch_plan_from_json(to_json(plan)), plan);
}

TEST(LaunchPlan, RefusesAnUnknownEdge) {
  Json json = to_json(full_plan());
  json["stamps"]["phases"][0]["edge_before"] = "warp";
  EXPECT_EQ(
      refusal(json),
      "launch plan.stamps.phases[0].edge_before: expected none, block, cluster or grid, found "
      "\"warp\""
  );
}

TEST(LaunchPlan, RefusesWhatIsNoObject) {
  EXPECT_EQ(refusal(Json::array()), "launch plan: expected an object, found array");
}

}  // namespace
}  // namespace whet
