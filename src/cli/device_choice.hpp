#pragma once

#include <string>

#include "cli/environment.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// What the flags --target, --device, --threads, --feature-level, --sms and --shared-bytes say.
struct DeviceOptions {
  std::string target;  ///< empty: cuda if a device is named, else cpu
  std::string device;  ///< GPU: ordinal, UUID, a name of configs/devices, or a file like those
  int num_threads = 0;
  Restriction restriction;  ///< of the GPU
};

/// What candidates are made for, and how the worker finds it.
struct DeviceChoice {
  DeviceLimits limits;
  std::string handle;  ///< CUDA ordinal or UUID
};

/// For commands that only generate or compile: a named GPU need not be there. Throws UserError for
/// a name that is unknown or does not fit the target, EnvironmentError where the GPU of this
/// machine is meant and there is none.
DeviceChoice choose_device(const DeviceOptions& options, const Environment& environment);

/// For commands that run candidates: as choose_device, and the GPU must be there. Throws
/// EnvironmentError with the way out when it is not.
DeviceChoice choose_present_device(const DeviceOptions& options, const Environment& environment);

}  // namespace whet
