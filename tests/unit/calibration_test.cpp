#include "model/calibration.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace whet {
namespace {

/// A series whose repetitions take `slope_ns` each, behind 500 ns that both counts share.
Json series(const char* probe, int blocks, double work, double slope_ns, bool overlaps = false) {
  const double few = 500 + 10 * slope_ns;
  const double many = 500 + 110 * slope_ns;
  return {
      {"probe", probe},
      {"blocks", blocks},
      {"work", work},
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
       {series("node", 132, 0, 900),
        series("node", 132, 0, 700, true),
        series("grid_barrier", 1, 0, 450),
        series("grid_barrier", 132, 0, 950),
        series("block_barrier", 1, 0, 15),
        series("l2_latency", 1, 0, 150),
        series("l2_rate", 1, 32000, 320),
        series("l2_rate", 132, 5e6, 1000),
        series("shared_latency", 1, 0, 16),
        series("shared_rate", 1, 32768, 128),
        series("mma", 1, 262144, 64),
        series("fma", 1, 65536, 128)}}};
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
  EXPECT_NEAR(costs.sm_l2_bytes_per_ns, 100.0, 1e-9);
  EXPECT_NEAR(costs.l2_bytes_per_ns, 5000.0, 1e-9);
  EXPECT_NEAR(costs.shared_bytes_per_clk, 128.0, 1e-9);
  EXPECT_NEAR(costs.mma_flops_per_clk, 2048.0, 1e-9);
  EXPECT_NEAR(costs.fma_flops_per_clk, 256.0, 1e-9);
  EXPECT_EQ(costs.samples.at("series").size(), 12U);
}

TEST(Calibration, WithoutOverlapANodeIsANode) {
  Json json = document();
  json["series"].erase(1);
  EXPECT_DOUBLE_EQ(costs_of(json).overlapped_node_ns, costs_of(json).graph_node_ns);
}

TEST(Calibration, ClocksThatAProbeCountsComeFirst) {
  Json json = document();
  json["series"].push_back(series("clock", 1, 64, 32));
  EXPECT_NEAR(costs_of(json).clock_mhz, 2000.0, 1e-9);
  json["series"].push_back(series("clock", 1, 64, 16));
  json["series"].erase(12);
  EXPECT_NEAR(costs_of(json).clock_mhz, 4000.0, 1e-9);
  EXPECT_NEAR(costs_of(json).fma_flops_per_clk, 128.0, 1e-9);
}

TEST(Calibration, SaysWhatMakesNoSense) {
  Json json = document();
  json["series"].erase(5);
  EXPECT_EQ(
      refusal(json), "x: $.series: expected a series of probe l2_latency, found an array of 11"
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
