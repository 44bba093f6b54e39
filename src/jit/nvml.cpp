#include "jit/nvml.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace whet {
namespace {

// Numbers of nvml.h.
constexpr int kSuccess = 0;
constexpr int kSmClock = 1;
constexpr int kGpuSensor = 0;
// Reasons for a clock below the highest that say the device is held back: power cap, hardware
// slowdown, sync boost, thermal slowdown by software and hardware, power brake. Not: idle, clocks
// set by the user, a display.
constexpr unsigned long long kThrottleReasons = 0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80;

}  // namespace

std::optional<Nvml> Nvml::open() {
  std::string error;
  std::optional<SharedLibrary> library =
      SharedLibrary::open("libnvidia-ml.so.1", SharedLibrary::Lifetime::Process, error);
  if (!library) {
    return std::nullopt;
  }
  Nvml nvml(std::move(*library));
  if (!nvml.load() || nvml.init_() != kSuccess) {
    return std::nullopt;
  }
  nvml.started_ = true;
  return nvml;
}

bool Nvml::load() {
  // Drivers before 535 have the reasons under their older name.
  const bool has_reasons =
      library_.find("nvmlDeviceGetCurrentClocksEventReasons", clock_reasons_) ||
      library_.find("nvmlDeviceGetCurrentClocksThrottleReasons", clock_reasons_);
  return has_reasons && library_.find("nvmlInit_v2", init_) &&
         library_.find("nvmlShutdown", shutdown_) &&
         library_.find("nvmlSystemGetDriverVersion", driver_version_) &&
         library_.find("nvmlDeviceGetHandleByUUID", device_by_uuid_) &&
         library_.find("nvmlDeviceGetClockInfo", clock_mhz_) &&
         library_.find("nvmlDeviceGetTemperature", temperature_);
}

Nvml::Nvml(Nvml&& other) noexcept
    : library_(std::move(other.library_)),
      started_(std::exchange(other.started_, false)),
      init_(other.init_),
      shutdown_(other.shutdown_),
      driver_version_(other.driver_version_),
      device_by_uuid_(other.device_by_uuid_),
      clock_mhz_(other.clock_mhz_),
      temperature_(other.temperature_),
      clock_reasons_(other.clock_reasons_) {}

Nvml::~Nvml() {
  if (started_ && shutdown_() != kSuccess) {
    std::fprintf(stderr, "whet: nvmlShutdown failed\n");
  }
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  const Result result = driver_version_(text.data(), static_cast<unsigned>(text.size() - 1));
  return result == kSuccess ? text.data() : "";
}

Conditions Nvml::conditions(const std::string& uuid) const {
  Conditions conditions;
  DeviceObject* device = find(uuid);
  if (device == nullptr) {
    return conditions;
  }
  unsigned clock_mhz = 0;
  if (clock_mhz_(device, kSmClock, &clock_mhz) == kSuccess) {
    conditions.clock_mhz = clock_mhz;
  }
  unsigned temperature_c = 0;
  if (temperature_(device, kGpuSensor, &temperature_c) == kSuccess) {
    conditions.temperature_c = temperature_c;
  }
  unsigned long long reasons = 0;
  if (clock_reasons_(device, &reasons) == kSuccess) {
    conditions.throttled = (reasons & kThrottleReasons) != 0;
  }
  return conditions;
}

Nvml::DeviceObject* Nvml::find(const std::string& uuid) const {
  DeviceObject* device = nullptr;
  return device_by_uuid_(uuid.c_str(), &device) == kSuccess ? device : nullptr;
}

}  // namespace whet
