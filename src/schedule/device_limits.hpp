#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace whet {

/// Where a schedule is lowered to.
enum class Target { Cpu, Cuda, CudaEmulated };
/// "cpu", "cuda", "cuda-emulated".
std::string target_name(Target target);
/// Throws UserError naming the choices.
Target parse_target(const std::string& name);

/// What the generator may know of a device, without a handle. Decides emission and keys.
struct DeviceLimits {
  std::string name;  ///< shown only
  Target target = Target::Cpu;
  std::string arch;       ///< "sm_90a"; "native" on the CPU
  int feature_level = 0;  ///< 80, 90, 100: what emission may use
  int num_sms = 1;        ///< cores on the CPU target
  int max_threads_per_block = 1;
  int max_threads_per_sm = 1;
  int max_registers_per_sm = 65536;
  std::int64_t max_shared_bytes_per_block = 0;
  std::int64_t max_shared_bytes_per_sm = 0;
  std::int64_t memory_bytes = 0;
  int vector_bytes = 32;       ///< CPU target: width of a vector register
  bool is_restricted = false;  ///< to less than the device has

  bool operator==(const DeviceLimits&) const = default;
};

/// Whether there are clusters and launches that overlap: from sm_90 on, and in the emulation so
/// that tests run them.
bool has_clusters(const DeviceLimits& limits);

/// A device class as the record store keys it: arch, SMs, memory ("cuda:sm_90:132:139GiB"), or
/// "cpu:<model>:<threads>"; a restricted device is a class of its own.
std::string device_class(const DeviceLimits& limits);

/// A GPU as a stand-in for a smaller one: 0 leaves a limit as it is. Throws UserError where more is
/// asked for than there is, or a feature level that no GPU has.
struct Restriction {
  int feature_level = 0;
  int num_sms = 0;
  std::int64_t shared_bytes_per_block = 0;
};
DeviceLimits restricted(DeviceLimits limits, const Restriction& restriction);

/// Reads `configs/devices/<name>.json` or, if `name` is a path to a file, that. Throws UserError
/// with the names there are.
DeviceLimits load_device_limits(
    const std::string& name, const std::filesystem::path& devices_folder
);
/// This machine's CPU with `num_threads` of its allowed cores (0: all of them).
DeviceLimits host_limits(int num_threads);
/// The small machine of the CUDA emulation: 8 SMs, otherwise sm_80's limits.
DeviceLimits emulated_limits();

}  // namespace whet
