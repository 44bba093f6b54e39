#pragma once

#include "model/device_costs.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// What one tile of a task asks for, in clocks of its multiprocessor (of its core on the CPU
/// target). Pipes of a multiprocessor are shared by all that is resident there, so their clocks add
/// up; waiting does not.
struct TileCost {
  double wait_clk = 0.0;        ///< latencies, one after the other
  double load_clk = 0.0;        ///< of the path from L2 and L1 to registers and shared memory
  double math_clk = 0.0;        ///< of tensor cores or of the fma pipes
  double issue_clk = 0.0;       ///< of the schedulers, for what is neither
  double early_load_clk = 0.0;  ///< the part of load_clk that may pass before the phase's edge
  double l2_bytes = 0.0;        ///< loaded and stored

  bool operator==(const TileCost&) const = default;
};

/// Of an average tile of `task`, which has one. Source: the loops of codegen/device/*.cuh; figures
/// that no probe gives were fitted to the screening times in results/h200/seeds_128caa7.json.
TileCost tile_cost(const Task& task, const Schedule& schedule, const DeviceCosts& costs);

}  // namespace whet
