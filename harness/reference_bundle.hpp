#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/host_tensor.hpp"
#include "ir/workload.hpp"

namespace whet {

/// State and declared outputs after one of the compared steps, each in its declared dtype: the
/// reference's values are rounded at every op's boundary, so that nothing is lost.
struct Snapshot {
  int step = 0;                     ///< number of steps done
  std::vector<HostTensor> state;    ///< one for each of step.state
  std::vector<HostTensor> outputs;  ///< one for each of step.outputs
  /// State one step earlier, from step 2 on; only in the reference, to prove that the bundle
  /// notices a lost update.
  std::vector<HostTensor> previous_state;

  bool operator==(const Snapshot&) const = default;
};

/// What one way of computing the steps gave, at step 1, after the replay and after the last step.
struct Trajectory {
  std::vector<Snapshot> snapshots;
  std::vector<double> losses;  ///< one a step; empty without a loss
  /// A candidate that does several steps a launch has snapshots only at multiples of it.
  int steps_per_launch = 1;

  bool operator==(const Trajectory&) const = default;
};

/// Everything that validation needs for one workload and seed.
struct ReferenceBundle {
  std::string workload_key;
  std::string data_key;  ///< data_key(workload)
  std::uint64_t seed = 0;
  std::string libtorch_version;
  std::string flags;  ///< arithmetic switches and threads it was computed with, for people
  /// [batch][input]: dense row-major values; the worker lays them out by the input's strides.
  std::vector<std::vector<HostTensor>> inputs;
  std::vector<HostTensor> scalars;
  std::vector<HostTensor> initial_state;
  Trajectory reference;            ///< f64 accumulation, declared roundings at op boundaries
  Trajectory native;               ///< LibTorch eager with its own arithmetic
  std::vector<Trajectory> orders;  ///< f32 with other summation orders
  /// One for each of step.state: norm of the change after the replay when nothing is rounded at
  /// all. It tells a gradient that is zero from an update that rounding loses.
  std::vector<double> unrounded_change;

  bool operator==(const ReferenceBundle&) const = default;
};

/// Numbers of steps after which state and outputs are compared: 1, the replay length, the last.
std::vector<int> snapshot_steps(const Workload& workload);

/// SHA-256 of what a bundle depends on beside seed and workload key: fills, scalar values, batches
/// and step counts.
std::string data_key(const Workload& workload);

/// Size of the data in a workload's bundle. Throws UserError when it does not fit 63 bits.
std::int64_t bundle_bytes(const Workload& workload);

/// Throws EnvironmentError when a file of `bytes` is larger than kMaxBundleBytes or than the room
/// left where `path` will lie.
void check_bundle_fits(std::int64_t bytes, const std::filesystem::path& path);
/// A bundle is read and written whole: more than this would crowd out the memory of one machine.
inline constexpr std::int64_t kMaxBundleBytes = std::int64_t{8} << 30;

/// One .safetensors file with everything in it, size checked first, written atomically. Throws
/// EnvironmentError.
void write_bundle(const ReferenceBundle& bundle, const std::filesystem::path& path);

/// Throws EnvironmentError for a file that is torn, foreign, or made for another workload: other
/// key, data key, shapes, dtypes or steps.
ReferenceBundle read_bundle(const std::filesystem::path& path, const Workload& workload);

}  // namespace whet
