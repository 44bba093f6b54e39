#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace whet {

/// What one barrier of all blocks of a grid costs, bare: nothing to drain, nobody late.
struct BarrierCost {
  int blocks = 1;
  double time_ns = 0.0;

  bool operator==(const BarrierCost&) const = default;
};

/// What the model may know of a device, measured or from documents. Feeds predictions only, never
/// emission or keys. On the CPU target a block is a thread, an SM a core, and L2 what the cores
/// load from.
struct DeviceCosts {
  std::string name;                 ///< of the device, as DeviceLimits has it
  std::string about;                ///< where the figures come from
  double clock_mhz = 0.0;           ///< of the SMs under load
  double launch_ns = 0.0;           ///< one replay of a graph of one kernel that loads and stores
  double graph_node_ns = 0.0;       ///< a further kernel of a graph, edge and all
  double overlapped_node_ns = 0.0;  ///< the same with programmatic dependent launch
  std::vector<BarrierCost> grid_barriers;  ///< by ascending, distinct block counts; not empty
  double block_barrier_ns = 0.0;           ///< of 256 threads
  double cluster_barrier_ns = 0.0;         ///< of 8 blocks of as many; 0: there are no clusters
  double l2_latency_ns = 0.0;              ///< of a dependent load that L1 does not have
  double l2_bytes_per_ns = 0.0;            ///< what all SMs together load
  double sm_l2_bytes_per_ns = 0.0;         ///< what one SM alone loads
  double shared_latency_ns = 0.0;          ///< of a dependent load from shared memory or L1
  double shared_bytes_per_clk = 0.0;       ///< an SM loads from shared memory or L1
  double mma_flops_per_clk = 0.0;          ///< an SM, bf16 on tensor cores; 0: it has none
  double fma_flops_per_clk = 0.0;          ///< an SM, f32
  Json samples = Json::object();           ///< raw measurements by field; empty if not measured

  bool operator==(const DeviceCosts&) const = default;
};

/// Between the measured block counts linear, beyond them the nearest.
double grid_barrier_ns(const DeviceCosts& costs, int blocks);

Json to_json(const DeviceCosts& costs);
/// Reads a `whet.costs/1` file. Throws UserError naming file, JSON path, expected and found.
DeviceCosts load_device_costs(const std::filesystem::path& path);

/// The costs of `folder` (JSON files) for the device called `name`; nothing if there are none.
/// Throws UserError for a file that does not parse.
std::optional<DeviceCosts> find_device_costs(
    const std::string& name, const std::filesystem::path& folder
);

}  // namespace whet
