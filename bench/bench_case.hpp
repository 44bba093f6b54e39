#pragma once

#include <string>
#include <vector>

#include "ir/workload.hpp"
#include "schedule/device_limits.hpp"

namespace whet::bench {

/// An entry of the suite that is measured.
struct Case {
  std::string name;
  Workload workload;
};

// Each registers its benchmarks: one a case, named "what/case/target".

/// Configuration to schedule, schedule to text, and the search for hazards.
void register_emission(const std::vector<Case>& cases, const DeviceLimits& limits);
/// Text to artifact, without a cache: NVRTC where it is found, and the host's compiler.
void register_compiling(const std::vector<Case>& cases, const DeviceLimits& limits);
/// Default configurations on this machine: a step in a recorded sequence, and a launch by itself.
void register_steps(const std::vector<Case>& cases, const DeviceLimits& limits);

}  // namespace whet::bench
