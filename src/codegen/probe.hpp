#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "artifact/launch_plan.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// What a kernel does over and over, to be timed: the files of device/calibration.
enum class Probe {
  Node,
  GridBarrier,
  BlockBarrier,
  L2Latency,
  L2Rate,
  SharedLatency,
  SharedRate,
  Mma,
  Fma,
};
/// "node", "grid_barrier" …: the names of those files.
std::string_view probe_name(Probe probe);
/// All of them, in order.
std::vector<Probe> all_probes();

/// A probe and the grid that runs it.
struct ProbeGrid {
  Probe probe = Probe::Node;
  int blocks = 1;
  int threads = 256;
  bool overlaps = false;  ///< its launches overlap (sm_90 and up)

  bool operator==(const ProbeGrid&) const = default;
};

/// Bytes of the buffer that probes read: a power of two, inside every GPU's L2.
std::size_t probe_buffer_bytes(Target target);

/// The kernel for a GPU or the emulation. Its tensors are the buffer, whose word i holds where to
/// read after it, and a word a thread for results; `ring_length` is the number of repetitions.
KernelSource probe_source(const ProbeGrid& grid, const DeviceLimits& limits);

}  // namespace whet
