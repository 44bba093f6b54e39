#pragma once

#include <optional>
#include <string>

#include "jit/executor.hpp"
#include "jit/shared_library.hpp"

namespace whet {

/// The management library, for what the driver does not say: clock, temperature, why it is
/// throttled.
class Nvml {
 public:
  /// Nothing when it is not installed or does not start.
  static std::optional<Nvml> open();
  ~Nvml();
  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&&) = delete;

  /// "580.159.04"; "" if it does not say.
  std::string driver_version() const;
  /// Of the device with this UUID ("GPU-…"; a MIG slice has another prefix, and answers less).
  Conditions conditions(const std::string& uuid) const;

 private:
  struct DeviceObject;
  using Result = int;

  explicit Nvml(SharedLibrary library) : library_(std::move(library)) {}
  bool load();
  DeviceObject* find(const std::string& uuid) const;

  SharedLibrary library_;
  bool started_ = false;
  Result (*init_)() = nullptr;
  Result (*shutdown_)() = nullptr;
  Result (*driver_version_)(char*, unsigned size) = nullptr;
  Result (*device_by_uuid_)(const char*, DeviceObject**) = nullptr;
  Result (*clock_mhz_)(DeviceObject*, int clock, unsigned*) = nullptr;
  Result (*temperature_)(DeviceObject*, int sensor, unsigned*) = nullptr;
  Result (*clock_reasons_)(DeviceObject*, unsigned long long*) = nullptr;
};

}  // namespace whet
