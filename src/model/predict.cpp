#include "model/predict.hpp"

#include <algorithm>
#include <numeric>

#include "model/tile_cost.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

// A bare barrier has nothing to drain: behind a phase its stores reach L2 first, the release waits
// for them, and blocks are not even. Source: results/h200/seeds_128caa7.json, whose times it was
// fitted to.
constexpr double kDrainLatencies = 3.0;

/// What is asked of one multiprocessor in a phase, in clocks.
struct Load {
  double wait = 0.0;
  double load = 0.0;
  double math = 0.0;
  double issue = 0.0;

  void add(const TileCost& tile, double count) {
    wait += tile.wait_clk * count;
    load += tile.load_clk * count;
    math += tile.math_clk * count;
    issue += tile.issue_clk * count;
  }
  /// A multiprocessor has so few warps of a step that its pipes hardly work side by side.
  double pipes() const { return load + math + issue; }
};

/// Tiles of a task with `before` tiles in front of it that `block` takes of a phase's deal.
std::int64_t share_of(std::int64_t before, std::int64_t tiles, int block, int blocks) {
  const auto dealt = [&](std::int64_t end) {
    return ceil_div(std::max<std::int64_t>(end - block, 0), blocks);
  };
  return dealt(before + tiles) - dealt(before);
}

struct PhaseTasks {
  const Phase* phase;
  std::vector<TileCost> tiles;  ///< of each task
};

/// Clocks of `block`, whose multiprocessor holds `resident` like it.
double block_clk(const PhaseTasks& tasks, int block, int blocks, double resident) {
  std::int64_t before = 0;
  Load all;
  double longest = 0.0;
  Load team;
  int first_warp = -1;
  for (std::size_t t = 0; t < tasks.tiles.size(); ++t) {
    const Task& task = tasks.phase->tasks[t];
    const auto count = static_cast<double>(share_of(before, task.num_tiles, block, blocks));
    before += task.num_tiles;
    if (task.first_warp != first_warp) {
      team = {};
      first_warp = task.first_warp;
    }
    team.add(tasks.tiles[t], count);
    all.add(tasks.tiles[t], count * resident);
    longest = std::max(longest, team.wait + team.pipes());
  }
  return std::max(longest, all.pipes());
}

/// What of the slowest block's first loads passes while it waits for the edge.
double early_clk(const PhaseTasks& tasks) {
  double early = 0.0;
  for (const TileCost& tile : tasks.tiles) {
    early += tile.early_load_clk;
  }
  return early;
}

double phase_ns(
    const Phase& phase,
    const Schedule& schedule,
    const DeviceLimits& limits,
    const DeviceCosts& costs,
    double edge_ns
) {
  PhaseTasks tasks{.phase = &phase, .tiles = {}};
  double l2_bytes = 0.0;
  std::int64_t num_tiles = 0;
  for (const Task& task : phase.tasks) {
    tasks.tiles.push_back(task.num_tiles == 0 ? TileCost{} : tile_cost(task, schedule, costs));
    l2_bytes += tasks.tiles.back().l2_bytes * static_cast<double>(task.num_tiles);
    num_tiles += task.num_tiles;
  }
  const int sharing = sharing_blocks(schedule, phase);
  const int repetitions = schedule.blocks / sharing;
  l2_bytes *= repetitions;
  const auto busy = std::min<std::int64_t>(sharing, num_tiles);
  const double resident =
      static_cast<double>(ceil_div(std::max<std::int64_t>(busy * repetitions, 1), limits.num_sms));
  double slowest = 0.0;
  for (int block = 0; block < busy; ++block) {
    slowest = std::max(slowest, block_clk(tasks, block, sharing, resident));
  }
  const double slowest_ns = slowest / costs.clock_mhz * 1e3;
  const double early_ns = std::min(early_clk(tasks) / costs.clock_mhz * 1e3, edge_ns);
  return std::max(slowest_ns - std::min(early_ns, slowest_ns), l2_bytes / costs.l2_bytes_per_ns);
}

double edge_ns(Edge edge, const Schedule& schedule, const DeviceCosts& costs) {
  switch (edge) {
    case Edge::None:
      return 0.0;
    case Edge::Block:
      return costs.block_barrier_ns * schedule.threads / 256.0;
    case Edge::Cluster:
      return costs.cluster_barrier_ns + kDrainLatencies * costs.l2_latency_ns;
    case Edge::Grid:
      break;
  }
  return grid_barrier_ns(costs, schedule.blocks) + kDrainLatencies * costs.l2_latency_ns;
}

/// What a launch takes to bring the state that a block keeps, and to give it back.
double state_ns(const Schedule& schedule, const DeviceCosts& costs) {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : schedule.buffers) {
    if (buffer.is_resident || buffer.is_held) {
      bytes += buffer.num_elements * dtype_bytes(buffer.dtype);
    }
  }
  return bytes == 0 ? 0.0
                    : 2.0 * static_cast<double>(bytes) / costs.sm_l2_bytes_per_ns +
                          costs.l2_latency_ns + costs.block_barrier_ns;
}

/// What a launch takes until its first step finds the inputs that come ahead of it.
double inputs_ns(const Schedule& schedule, const DeviceCosts& costs) {
  if (schedule.prefetched.empty()) {
    return 0.0;
  }
  const bool come_early =
      schedule.overlaps && std::ranges::all_of(schedule.prefetched, &PrefetchedInput::is_stable);
  return costs.block_barrier_ns + (come_early ? 0.0 : costs.l2_latency_ns);
}

}  // namespace

double total_ns(const Prediction& prediction) {
  const auto sum = [](const std::vector<double>& parts) {
    return std::accumulate(parts.begin(), parts.end(), 0.0);
  };
  return prediction.launch_ns + sum(prediction.edges_ns) + sum(prediction.phases_ns);
}

Prediction predict(const Schedule& schedule, const DeviceLimits& limits, const DeviceCosts& costs) {
  const double steps = schedule.steps_per_launch;
  const double launch_ns = schedule.overlaps ? costs.overlapped_node_ns : costs.graph_node_ns;
  Prediction prediction{
      .launch_ns = (launch_ns + state_ns(schedule, costs) + inputs_ns(schedule, costs)) / steps,
      .edges_ns = {},
      .phases_ns = {}};
  for (std::size_t p = 0; p < schedule.phases.size(); ++p) {
    const Phase& phase = schedule.phases[p];
    const double edge = p == 0 ? edge_ns(schedule.step_edge, schedule, costs) * (steps - 1) / steps
                               : edge_ns(phase.edge_before, schedule, costs);
    // In front of a launch's first phase the loads may pass while the launch before it ends.
    const double cover = p == 0 ? edge + prediction.launch_ns : edge;
    prediction.edges_ns.push_back(edge);
    prediction.phases_ns.push_back(phase_ns(phase, schedule, limits, costs, cover));
  }
  return prediction;
}

}  // namespace whet
