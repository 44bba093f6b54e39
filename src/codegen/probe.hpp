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
  ClusterBarrier,
  L2Latency,
  L2Rate,
  SharedLatency,
  SharedRate,
  Mma,
  Fma,
  Clock,  ///< of the CPU target only: a GPU says its clock
};
/// "node", "grid_barrier" …: the names of those files.
std::string_view probe_name(Probe probe);
/// Those of a device, in order. The CPU target has no barrier of a block and no tensor cores.
std::vector<Probe> probes_of(const DeviceLimits& limits);

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

/// What a repetition of the whole grid comes to: bytes of the rates, operations of Mma and Fma,
/// clocks of Clock; 0 for what is a time itself.
double probe_work(const ProbeGrid& grid, const DeviceLimits& limits);

/// The kernel. Its tensors are the buffer, whose word i holds where to
/// read after it, and a word a thread for results; `ring_length` is the number of repetitions.
KernelSource probe_source(const ProbeGrid& grid, const DeviceLimits& limits);

}  // namespace whet
