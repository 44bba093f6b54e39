#pragma once

#include <cstdint>

#include "ir/program.hpp"
#include "model/device_costs.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// What a step costs at the least, in ns; the parts after `launch_ns` may happen at once.
struct Limit {
  double launch_ns = 0.0;  ///< a step's share of the cheapest kind of launch
  double bytes_ns = 0.0;   ///< to load inputs and state and to store state and outputs, once
  double math_ns = 0.0;    ///< of the products on all SMs at full rate
  double chain_ns = 0.0;   ///< of the longest chain of products and reductions

  bool operator==(const Limit&) const = default;
};

/// launch_ns plus the longest of the rest.
double total_ns(const Limit& limit);

/// A bound that no schedule of `program` beats on the device, whatever its knobs, if the costs are
/// right. It assumes that
/// - a launch costs what an empty one does, shared by the `steps_per_launch` steps of it;
/// - each byte of inputs, outputs and state passes between L2 and the SMs once, at the rate of all
///   SMs; state once a launch, since a kernel may keep it on chip from step to step;
/// - products run at the full rate of tensor cores (16 bits) or of fma (f32), the rest is free;
/// - nothing but a product or reduction needs threads to exchange data, which then takes one load
///   from shared memory: no barrier of any kind is counted.
Limit find_limit(
    const Program& program,
    const DeviceLimits& limits,
    const DeviceCosts& costs,
    std::int64_t steps_per_launch
);

}  // namespace whet
