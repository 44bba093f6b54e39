#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/workload.hpp"

namespace whet {

/// A dense row-major tensor in host memory, in its own dtype.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  bool operator==(const HostTensor&) const = default;
};

/// State and declared outputs after one of the compared steps.
struct Snapshot {
  int step = 0;                      ///< number of steps done
  std::vector<HostTensor> state;     ///< one for each of step.state, f64 for the reference
  std::vector<HostTensor> outputs;   ///< one for each of step.outputs, f64 for the reference
};

/// What one way of computing the steps gave, at step 1, after the replay and after the last step.
struct Trajectory {
  std::vector<Snapshot> snapshots;
  std::vector<double> losses;        ///< one a step; empty without a loss
};

/// Everything that validation needs for one workload and seed.
struct ReferenceBundle {
  std::string workload_key;
  std::uint64_t seed = 0;
  std::string libtorch_version;
  /// [batch][input]: dense row-major values; the worker lays them out by the input's strides.
  std::vector<std::vector<HostTensor>> inputs;
  std::vector<HostTensor> scalars;
  std::vector<HostTensor> initial_state;
  Trajectory reference;              ///< f64 accumulation, declared roundings at op boundaries
  Trajectory native;                 ///< LibTorch eager with its own arithmetic
  std::vector<Trajectory> orders;    ///< f32 with other summation orders
};

/// Initial values by the fills, from Philox streams: (seed, stream) with stream = position of the
/// tensor among inputs (times batches) and state; the same in C++ and Python.
HostTensor fill_tensor(
    const Fill& fill, const TensorDesc& tensor, std::uint64_t seed, std::uint64_t stream
);

/// One .safetensors file with everything in it; written atomically. Throws EnvironmentError.
void write_bundle(const ReferenceBundle& bundle, const std::filesystem::path& path);
/// Throws EnvironmentError for a file that is torn, foreign, or of another workload.
ReferenceBundle read_bundle(const std::filesystem::path& path);

}  // namespace whet
