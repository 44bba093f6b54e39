#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jit/cuda_driver.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// A GPU as the driver shows it to this process.
struct CudaDeviceInfo {
  int ordinal = 0;  ///< counted after CUDA_VISIBLE_DEVICES
  cuda::Device handle = 0;
  std::string name;  ///< "NVIDIA H200"
  std::string uuid;  ///< "GPU-0a1b…"
  int capability_major = 0;
  int capability_minor = 0;
};

/// What `whet doctor` says of the driver.
struct DriverInfo {
  bool driver = false;
  std::string problem;       ///< why there is none, or no device, and what to do
  std::string version;       ///< "580.159.04"; "" if NVML is not there to say
  std::string cuda_version;  ///< "13.0": what the driver supports
  bool nvml = false;
  std::vector<CudaDeviceInfo> devices;
};
/// Does not throw for what is missing.
DriverInfo query_driver();

/// The devices of a loaded driver. Throws EnvironmentError.
std::vector<CudaDeviceInfo> list_cuda_devices(const CudaDriver& driver);

/// The device that `device` names: an ordinal, a UUID or its beginning ("GPU-0a1b"), or "" for the
/// first. Throws UserError if it is neither, EnvironmentError if no such device, or more than one,
/// is among `devices`, listing them.
CudaDeviceInfo choose_cuda_device(
    const std::vector<CudaDeviceInfo>& devices, const std::string& device
);

/// Limits of a device of this machine, chosen as above. Throws EnvironmentError: no driver, no such
/// device, or one older than sm_80.
DeviceLimits query_device_limits(const std::string& device);

/// "sm_90a" for 9.0, "sm_86" for 8.6: with the instructions of just that architecture where there
/// are such, from 9.0 on.
std::string cuda_arch(int capability_major, int capability_minor);
/// What emission may use there: 80, 90 (wgmma, clusters) or 100 (tcgen05).
int cuda_feature_level(int capability_major);

}  // namespace whet
