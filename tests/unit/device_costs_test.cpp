#include "model/device_costs.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "schedule/device_limits.hpp"

namespace whet {
namespace {

const std::filesystem::path kShipped = std::filesystem::path(WHET_SOURCE_DIR) / "configs/costs";
const std::filesystem::path kDevices = std::filesystem::path(WHET_SOURCE_DIR) / "configs/devices";

/// The message of reading h200.json with `change` made to its fields.
template <typename Change>
std::string refusal(Change change) {
  const TemporaryFolder folder("whet-costs-");
  Json json = to_json(load_device_costs(kShipped / "h200.json"));
  change(json);
  write_file_atomically(folder.path() / "x.json", json.dump());
  try {
    load_device_costs(folder.path() / "x.json");
  } catch (const UserError& error) {
    return std::string(error.what()).substr(folder.path().string().size() + 1);
  }
  return "";
}

TEST(DeviceCosts, EveryShippedFileIsOfAShippedDevice) {
  for (const char* name : {"h200", "h100", "a100"}) {
    EXPECT_TRUE(find_device_costs(load_device_limits(name, kDevices).name, kShipped)) << name;
  }
  EXPECT_FALSE(find_device_costs("no such device", kShipped));
  EXPECT_FALSE(find_device_costs("NVIDIA H200", kShipped / "no such folder"));
}

TEST(DeviceCosts, SurviveTheirFile) {
  const TemporaryFolder folder("whet-costs-");
  DeviceCosts costs = load_device_costs(kShipped / "h200.json");
  costs.samples["launch_ns"] = {2870.5, 2881.0};
  write_file_atomically(folder.path() / "mine.json", to_json(costs).dump());
  EXPECT_EQ(find_device_costs("NVIDIA H200", folder.path()), costs);
}

TEST(DeviceCosts, BarriersBetweenMeasuredCountsAreInterpolated) {
  DeviceCosts costs;
  costs.grid_barriers = {{4, 500.0}, {8, 700.0}};
  EXPECT_DOUBLE_EQ(grid_barrier_ns(costs, 1), 500.0);
  EXPECT_DOUBLE_EQ(grid_barrier_ns(costs, 4), 500.0);
  EXPECT_DOUBLE_EQ(grid_barrier_ns(costs, 5), 550.0);
  EXPECT_DOUBLE_EQ(grid_barrier_ns(costs, 264), 700.0);
}

TEST(DeviceCosts, RefusalsSayWhereAndWhat) {
  EXPECT_EQ(
      refusal([](Json& json) { json["l2_latency_ns"] = 0; }),
      "x.json: $.l2_latency_ns: expected a number above 0, found 0"
  );
  EXPECT_EQ(
      refusal([](Json& json) { json["grid_barriers"][2]["blocks"] = 4; }),
      "x.json: $.grid_barriers[2].blocks: expected more blocks than in the entry before, found 4"
  );
  EXPECT_EQ(
      refusal([](Json& json) { json["grid_barriers"] = Json::array(); }),
      "x.json: $.grid_barriers: expected at least one entry, found an array of 0"
  );
  EXPECT_EQ(
      refusal([](Json& json) { json["schema"] = "whet.device/1"; }),
      "x.json: $.schema: expected \"whet.costs/1\", found the string \"whet.device/1\""
  );
}

}  // namespace
}  // namespace whet
