#include "model/device_costs.hpp"

#include <algorithm>

namespace whet {
namespace {

/// Throws what JsonCursor throws when a cost is not a positive number.
double positive(const JsonCursor& file, const char* key) {
  const JsonCursor field = file.at(key);
  const double value = field.as_number();
  if (!(value > 0.0)) {
    field.fail("a number above 0");
  }
  return value;
}

std::vector<BarrierCost> parse_barriers(const JsonCursor& list) {
  std::vector<BarrierCost> barriers;
  for (const JsonCursor& entry : list.items()) {
    entry.allow_only({"blocks", "time_ns"});
    const JsonCursor blocks = entry.at("blocks");
    const BarrierCost barrier{
        .blocks = static_cast<int>(blocks.as_integer(1, 1 << 20)),
        .time_ns = positive(entry, "time_ns")};
    if (!barriers.empty() && barrier.blocks <= barriers.back().blocks) {
      blocks.fail("more blocks than in the entry before");
    }
    barriers.push_back(barrier);
  }
  if (barriers.empty()) {
    list.fail("at least one entry");
  }
  return barriers;
}

DeviceCosts parse_costs(const JsonCursor& file) {
  file.allow_only(
      {"schema",
       "name",
       "about",
       "clock_mhz",
       "launch_ns",
       "graph_node_ns",
       "overlapped_node_ns",
       "grid_barriers",
       "block_barrier_ns",
       "cluster_barrier_ns",
       "l2_latency_ns",
       "l2_bytes_per_ns",
       "sm_l2_bytes_per_ns",
       "shared_latency_ns",
       "shared_bytes_per_clk",
       "mma_flops_per_clk",
       "fma_flops_per_clk",
       "samples"}
  );
  if (file.at("schema").as_string() != "whet.costs/1") {
    file.at("schema").fail("\"whet.costs/1\"");
  }
  DeviceCosts costs{
      .name = file.at("name").as_string(),
      .about = file.at("about").as_string(),
      .clock_mhz = positive(file, "clock_mhz"),
      .launch_ns = positive(file, "launch_ns"),
      .graph_node_ns = positive(file, "graph_node_ns"),
      .overlapped_node_ns = positive(file, "overlapped_node_ns"),
      .grid_barriers = parse_barriers(file.at("grid_barriers")),
      .block_barrier_ns = positive(file, "block_barrier_ns"),
      .l2_latency_ns = positive(file, "l2_latency_ns"),
      .l2_bytes_per_ns = positive(file, "l2_bytes_per_ns"),
      .sm_l2_bytes_per_ns = positive(file, "sm_l2_bytes_per_ns"),
      .shared_latency_ns = positive(file, "shared_latency_ns"),
      .shared_bytes_per_clk = positive(file, "shared_bytes_per_clk"),
      .mma_flops_per_clk = file.at("mma_flops_per_clk").as_number(),
      .fma_flops_per_clk = positive(file, "fma_flops_per_clk")};
  if (costs.mma_flops_per_clk < 0.0) {
    file.at("mma_flops_per_clk").fail("a number of 0 or more");
  }
  if (const auto cluster = file.find("cluster_barrier_ns")) {
    costs.cluster_barrier_ns = cluster->as_number();
  }
  if (const auto samples = file.find("samples")) {
    costs.samples = samples->value();
  }
  return costs;
}

}  // namespace

double grid_barrier_ns(const DeviceCosts& costs, int blocks) {
  const auto& table = costs.grid_barriers;
  const auto above = std::ranges::lower_bound(table, blocks, {}, &BarrierCost::blocks);
  if (above == table.end()) {
    return table.back().time_ns;
  }
  if (above == table.begin()) {
    return above->time_ns;
  }
  const BarrierCost& below = *(above - 1);
  const double share = static_cast<double>(blocks - below.blocks) /
                       static_cast<double>(above->blocks - below.blocks);
  return below.time_ns + share * (above->time_ns - below.time_ns);
}

Json to_json(const DeviceCosts& costs) {
  Json barriers = Json::array();
  for (const BarrierCost& barrier : costs.grid_barriers) {
    barriers.push_back({{"blocks", barrier.blocks}, {"time_ns", barrier.time_ns}});
  }
  Json json{
      {"schema", "whet.costs/1"},
      {"name", costs.name},
      {"about", costs.about},
      {"clock_mhz", costs.clock_mhz},
      {"launch_ns", costs.launch_ns},
      {"graph_node_ns", costs.graph_node_ns},
      {"overlapped_node_ns", costs.overlapped_node_ns},
      {"grid_barriers", barriers},
      {"block_barrier_ns", costs.block_barrier_ns},
      {"cluster_barrier_ns", costs.cluster_barrier_ns},
      {"l2_latency_ns", costs.l2_latency_ns},
      {"l2_bytes_per_ns", costs.l2_bytes_per_ns},
      {"sm_l2_bytes_per_ns", costs.sm_l2_bytes_per_ns},
      {"shared_latency_ns", costs.shared_latency_ns},
      {"shared_bytes_per_clk", costs.shared_bytes_per_clk},
      {"mma_flops_per_clk", costs.mma_flops_per_clk},
      {"fma_flops_per_clk", costs.fma_flops_per_clk}};
  if (!costs.samples.empty()) {
    json["samples"] = costs.samples;
  }
  return json;
}

DeviceCosts load_device_costs(const std::filesystem::path& path) {
  return parse_costs(JsonCursor::parse_file(path));
}

std::optional<DeviceCosts> find_device_costs(
    const std::string& name, const std::filesystem::path& folder
) {
  std::error_code missing;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);  // a folder lists in any order
  for (const auto& file : files) {
    DeviceCosts costs = load_device_costs(file);
    if (costs.name == name) {
      return costs;
    }
  }
  return std::nullopt;
}

}  // namespace whet
