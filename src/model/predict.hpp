#pragma once

#include <vector>

#include "model/device_costs.hpp"
#include "schedule/device_limits.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// Where the model thinks that the time of a step goes.
struct Prediction {
  double launch_ns =
      0.0;  ///< a step's share of its launch and of state that comes and goes with it
  std::vector<double>
      edges_ns;  ///< in front of each phase; the first: a step's share of step edges
  std::vector<double> phases_ns;  ///< the slowest block's work in each phase

  bool operator==(const Prediction&) const = default;
};
double total_ns(const Prediction& prediction);

/// The time of a step in a long sequence of launches. Orders candidates: what it leaves out (bank
/// conflicts, late blocks, spills) may be as much as it sees. `limits` and `costs` are of one
/// device.
Prediction predict(const Schedule& schedule, const DeviceLimits& limits, const DeviceCosts& costs);

}  // namespace whet
