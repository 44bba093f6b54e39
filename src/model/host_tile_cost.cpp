#include "model/host_tile_cost.hpp"

#include <algorithm>

#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

// Vector instructions for a pointwise op or an access with its conversion, and how many a clock.
constexpr double kInstructionsPerNode = 2.0;
constexpr double kInstructionsPerClk = 2.0;
// f32 elements of a vector of 32 bytes.
constexpr double kLanes = 8.0;

double element_bytes(const Access& access, const Schedule& schedule) {
  return static_cast<double>(dtype_bytes(schedule.buffers[Index(access.buffer)].dtype));
}

/// Nodes and stores of `elements` elements.
void add_pointwise(
    TileCost& cost,
    const Task& task,
    const Schedule& schedule,
    const DeviceCosts& costs,
    double elements
) {
  const auto accesses = std::ranges::count_if(task.nodes, [](const ExprNode& node) {
    return node.kind == ExprNode::Kind::Load || node.kind == ExprNode::Kind::Apply;
  });
  const double instructions =
      static_cast<double>(accesses + static_cast<long>(task.stores.size())) * kInstructionsPerNode;
  cost.issue_clk += elements / kLanes * instructions / kInstructionsPerClk;
  const auto move = [&](const Access& access) {
    const double bytes = elements * element_bytes(access, schedule);
    cost.l2_bytes += bytes;
    cost.load_clk += bytes / costs.sm_l2_bytes_per_ns * costs.clock_mhz * 1e-3;
  };
  for (const ExprNode& node : task.nodes) {
    if (node.kind == ExprNode::Kind::Load) {
      move(node.access);
    }
  }
  for (const Store& store : task.stores) {
    move(store.access);
  }
}

/// Panels of both operands are packed, then every row of one meets every column of the other.
void add_product(
    TileCost& cost, const Task& task, const Schedule& schedule, const DeviceCosts& costs
) {
  const GemmTask& gemm = *task.gemm;
  const double m = static_cast<double>(std::min(gemm.tiling.tile_m, task.domain[0]));
  const double n = static_cast<double>(std::min(gemm.tiling.tile_n, task.domain[1]));
  const double k = static_cast<double>(gemm.k);
  cost.math_clk += 2 * m * n * k / costs.fma_flops_per_clk;
  const double rows = static_cast<double>(int_knob(schedule.configuration, task.name, "unroll"));
  // Each vector of a column panel is loaded once for so many rows.
  cost.load_clk += m * n * k * 4 / rows / costs.shared_bytes_per_clk;
  for (const auto& [operand, elements] : {std::pair(&gemm.a, m * k), std::pair(&gemm.b, n * k)}) {
    const double bytes = elements * element_bytes(operand->access, schedule);
    cost.l2_bytes += bytes;
    cost.load_clk += bytes / costs.sm_l2_bytes_per_ns * costs.clock_mhz * 1e-3;
    cost.issue_clk += elements / kLanes * 2 * kInstructionsPerNode / kInstructionsPerClk;
  }
}

}  // namespace

TileCost host_tile_cost(const Task& task, const Schedule& schedule, const DeviceCosts& costs) {
  TileCost cost;
  double elements = static_cast<double>(num_elements(task.domain)) /
                    static_cast<double>(std::max<std::int64_t>(task.num_tiles, 1));
  if (task.gemm) {
    add_product(cost, task, schedule, costs);
  }
  add_pointwise(cost, task, schedule, costs, elements);
  return cost;
}

}  // namespace whet
