#include "jit/cuda_device.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/error.hpp"
#include "jit/executor.hpp"
#include "jit/nvml.hpp"

namespace whet {
namespace {

using cuda::DeviceAttribute;

std::string format_uuid(const cuda::Uuid& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    const bool starts_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", starts_group ? "-" : "", uuid.bytes[i]);
  }
  return text;
}

int attribute(const CudaDriver& driver, cuda::Device device, DeviceAttribute which) {
  int value = 0;
  check(
      driver,
      driver.device_attribute(&value, which, device),
      fmt::format("cuDeviceGetAttribute({})", static_cast<int>(which))
  );
  return value;
}

std::string describe_devices(const std::vector<CudaDeviceInfo>& devices) {
  std::vector<std::string> lines;
  for (const CudaDeviceInfo& device : devices) {
    lines.push_back(fmt::format("{}: {} ({})", device.ordinal, device.name, device.uuid));
  }
  return lines.empty() ? "there is none that CUDA_VISIBLE_DEVICES lets through"
                       : fmt::format("there are {}", fmt::join(lines, ", "));
}

std::optional<int> parse_ordinal(const std::string& text) {
  int ordinal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ordinal);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && ordinal >= 0 ? std::optional(ordinal) : std::nullopt;
}

}  // namespace

std::vector<CudaDeviceInfo> list_cuda_devices(const CudaDriver& driver) {
  int count = 0;
  check(driver, driver.device_count(&count), "cuDeviceGetCount");
  std::vector<CudaDeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CudaDeviceInfo info;
    info.ordinal = ordinal;
    check(driver, driver.device_get(&info.handle, ordinal), "cuDeviceGet");
    std::array<char, 256> name{};
    check(
        driver,
        driver.device_name(name.data(), static_cast<int>(name.size() - 1), info.handle),
        "cuDeviceGetName"
    );
    info.name = name.data();
    cuda::Uuid uuid{};
    check(driver, driver.device_uuid(&uuid, info.handle), "cuDeviceGetUuid");
    info.uuid = format_uuid(uuid);
    info.capability_major = attribute(driver, info.handle, DeviceAttribute::CapabilityMajor);
    info.capability_minor = attribute(driver, info.handle, DeviceAttribute::CapabilityMinor);
    devices.push_back(std::move(info));
  }
  return devices;
}

CudaDeviceInfo choose_cuda_device(
    const std::vector<CudaDeviceInfo>& devices, const std::string& device
) {
  constexpr std::size_t kPrefixLength = 4;  // "GPU-", or "MIG-" for a slice of one
  const bool is_uuid = device.starts_with("GPU-") || device.starts_with("MIG-");
  const std::optional<int> ordinal = device.empty() ? 0 : parse_ordinal(device);
  if (!is_uuid && !ordinal) {
    throw UserError(
        fmt::format("device \"{}\": expected an ordinal such as 0, or a UUID \"GPU-…\"", device)
    );
  }
  std::vector<CudaDeviceInfo> matches;
  for (const CudaDeviceInfo& info : devices) {
    const bool matches_uuid =
        is_uuid && info.uuid.substr(kPrefixLength).starts_with(device.substr(kPrefixLength));
    if (matches_uuid || info.ordinal == ordinal) {
      matches.push_back(info);
    }
  }
  if (matches.size() != 1) {
    throw EnvironmentError(fmt::format(
        "{} CUDA device {}: {}",
        matches.empty() ? "no" : "more than one",
        device.empty() ? "0" : device,
        describe_devices(devices)
    ));
  }
  return matches.front();
}

std::string cuda_arch(int capability_major, int capability_minor) {
  return fmt::format(
      "sm_{}{}{}", capability_major, capability_minor, capability_major >= 9 ? "a" : ""
  );
}

int cuda_feature_level(int capability_major) {
  switch (capability_major) {
    case 9:
      return 90;
    case 10:
    case 11:
      return 100;
    default:
      // Consumer Blackwell (12) has neither wgmma nor tcgen05.
      return 80;
  }
}

DeviceLimits query_device_limits(const std::string& device) {
  const CudaDriver driver = load_cuda_driver();
  const CudaDeviceInfo info = choose_cuda_device(list_cuda_devices(driver), device);
  if (info.capability_major < 8) {
    throw EnvironmentError(fmt::format(
        "{} ({}) has compute capability {}.{}: 8.0 or later is needed",
        info.name,
        info.uuid,
        info.capability_major,
        info.capability_minor
    ));
  }
  const auto get = [&](DeviceAttribute which) { return attribute(driver, info.handle, which); };
  std::size_t memory_bytes = 0;
  check(driver, driver.device_memory(&memory_bytes, info.handle), "cuDeviceTotalMem");
  DeviceLimits limits;
  limits.name = info.name;
  limits.target = Target::Cuda;
  limits.arch = cuda_arch(info.capability_major, info.capability_minor);
  limits.feature_level = cuda_feature_level(info.capability_major);
  limits.num_sms = get(DeviceAttribute::NumSms);
  limits.max_threads_per_block = get(DeviceAttribute::MaxThreadsPerBlock);
  limits.max_threads_per_sm = get(DeviceAttribute::MaxThreadsPerSm);
  limits.max_registers_per_sm = get(DeviceAttribute::MaxRegistersPerSm);
  limits.max_shared_bytes_per_block = get(DeviceAttribute::MaxSharedBytesPerBlock);
  limits.max_shared_bytes_per_sm = get(DeviceAttribute::MaxSharedBytesPerSm);
  limits.memory_bytes = static_cast<std::int64_t>(memory_bytes);
  return limits;
}

DriverInfo query_driver() {
  DriverInfo info;
  if (const std::optional<Nvml> nvml = Nvml::open()) {
    info.nvml = true;
    info.version = nvml->driver_version();
  }
  try {
    const CudaDriver driver = load_cuda_driver();
    info.driver = true;
    int version = 0;
    check(driver, driver.driver_version(&version), "cuDriverGetVersion");
    info.cuda_version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    info.devices = list_cuda_devices(driver);
  } catch (const EnvironmentError& error) {
    info.problem = error.what();
  } catch (const DeviceFault& fault) {
    info.problem = fault.what();
  }
  return info;
}

}  // namespace whet
