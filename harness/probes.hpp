#pragma once

#include <cstdint>
#include <vector>

#include "base/json.hpp"
#include "codegen/probe.hpp"
#include "jit/compile.hpp"
#include "jit/executor.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// A probe timed at two amounts of work, so that what they share cancels out.
struct ProbeSeries {
  ProbeGrid grid;
  std::uint32_t few = 0;  ///< repetitions; for Probe::Node kernels of a graph
  std::uint32_t many = 0;

  bool operator==(const ProbeSeries&) const = default;
};

/// What calibrating a device takes, in ascending blocks of each probe.
std::vector<ProbeSeries> calibration_series(const DeviceLimits& limits);

/// Runs every series on a GPU, the host, or the emulation, whose times mean nothing. Gives a
/// `whet.calibration/1` document (docs/formats/costs.md). Throws DeviceFault, also when a barrier
/// gave up, and EnvironmentError when a probe does not compile.
Json run_probes(
    Executor& executor, const DeviceLimits& limits, const CompileOptions& options, int num_samples
);

}  // namespace whet
