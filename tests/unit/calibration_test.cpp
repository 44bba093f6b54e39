#include "model/calibration.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace whet {
namespace {

/// A series whose repetitions take `slope_ns` each, behind 500 ns that both counts share.
Json series(const char* probe, int blocks, int threads, double slope_ns, bool overlaps = false) {
  const double few = 500 + 10 * slope_ns;
  const double many = 500 + 110 * slope_ns;
  return {
      {"probe", probe},
      {"blocks", blocks},
      {"threads", threads},
      {"overlaps", overlaps},
      {"counts", {10, 110}},
      {"times_ns", {{few, few, few + 1000}, {many, many + 1, many - 1}}},
      {"clock_mhz", 2000.0}};
}

Json document() {
  return {
      {"schema", "whet.calibration/1"},
      {"device", "a GPU"},
      {"launch_ns", {4000.0, 4100.0, 9000.0}},
      {"series",
       {series("node", 132, 256, 900),
        series("node", 132, 256, 700, true),
        series("grid_barrier", 1, 256, 450),
        series("grid_barrier", 132, 256, 950),
        series("block_barrier", 1, 256, 15),
        series("l2_latency", 1, 32, 150),
        series("l2_rate", 1, 256, 320),
        series("l2_rate", 132, 256, 1000),
        series("shared_latency", 1, 32, 16),
        series("shared_rate", 1, 256, 128),
        series("mma", 1, 256, 64),
        series("fma", 1, 512, 128)}}};
}

DeviceCosts costs_of(const Json& json) {
  return costs_from_samples(JsonCursor::parse_text(json.dump(), "x"), "a GPU");
}

std::string refusal(const Json& json) {
  try {
    costs_of(json);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Calibration, TakesSlopesOfMedians) {
  const DeviceCosts costs = costs_of(document());
  EXPECT_DOUBLE_EQ(costs.clock_mhz, 2000.0);
  EXPECT_DOUBLE_EQ(costs.launch_ns, 4100.0);
  EXPECT_NEAR(costs.graph_node_ns, 900.0, 1e-9);
  EXPECT_NEAR(costs.overlapped_node_ns, 700.0, 1e-9);
  ASSERT_EQ(costs.grid_barriers.size(), 2U);
  EXPECT_EQ(costs.grid_barriers[1].blocks, 132);
  EXPECT_NEAR(costs.grid_barriers[1].time_ns, 950.0, 1e-9);
  EXPECT_NEAR(costs.l2_latency_ns, 150.0, 1e-9);
  EXPECT_NEAR(costs.sm_l2_bytes_per_ns, 256 * 128 / 320.0, 1e-9);
  EXPECT_NEAR(costs.l2_bytes_per_ns, 132 * 256 * 128 / 1000.0, 1e-9);
  EXPECT_NEAR(costs.shared_bytes_per_clk, 256 * 128 / 256.0, 1e-9);
  EXPECT_NEAR(costs.mma_flops_per_clk, 8 * 8 * 4096 / 128.0, 1e-9);
  EXPECT_NEAR(costs.fma_flops_per_clk, 512 * 64 * 2 / 256.0, 1e-9);
  EXPECT_EQ(costs.samples.at("series").size(), 12U);
}

TEST(Calibration, WithoutOverlapANodeIsANode) {
  Json json = document();
  json["series"].erase(1);
  EXPECT_DOUBLE_EQ(costs_of(json).overlapped_node_ns, costs_of(json).graph_node_ns);
}

TEST(Calibration, SaysWhatMakesNoSense) {
  Json json = document();
  json["series"].erase(4);
  EXPECT_EQ(
      refusal(json), "x: $.series: expected a series of probe block_barrier, found an array of 11"
  );
  json = document();
  for (Json& series : json["series"]) {
    series["clock_mhz"] = 0.0;
  }
  EXPECT_EQ(
      refusal(json), "x: $.series: expected a clock_mhz above 0 (is NVML missing?), found none"
  );
  json = document();
  std::swap(json["series"][2]["times_ns"][0], json["series"][2]["times_ns"][1]);
  EXPECT_EQ(
      refusal(json),
      "x: $.series[2].times_ns: expected more time for more work, found an array of 2"
  );
}

}  // namespace
}  // namespace whet
