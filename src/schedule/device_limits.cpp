#include "schedule/device_limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace whet {
namespace {

struct CpuInfo {
  std::string model = "unknown CPU";
  std::string flags;
};

CpuInfo read_cpu_info() {
  CpuInfo info;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) {
      continue;
    }
    if (line.starts_with("model name")) {
      info.model = line.substr(colon + 2);
    } else if (line.starts_with("flags") || line.starts_with("Features")) {
      info.flags = line.substr(colon + 1) + " ";
      break;
    }
  }
  return info;
}

int num_allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) {
    return 1;
  }
  return std::max(CPU_COUNT(&cores), 1);
}

DeviceLimits parse_limits(const JsonCursor& file) {
  file.allow_only(
      {"schema",
       "name",
       "arch",
       "feature_level",
       "num_sms",
       "max_threads_per_block",
       "max_threads_per_sm",
       "max_registers_per_sm",
       "max_shared_bytes_per_block",
       "max_shared_bytes_per_sm",
       "memory_bytes"}
  );
  if (file.at("schema").as_string() != "whet.device/1") {
    file.at("schema").fail("\"whet.device/1\"");
  }
  const auto number = [&](const char* key) {
    return file.at(key).as_integer(1, std::int64_t{1} << 50);
  };
  return {
      .name = file.at("name").as_string(),
      .target = Target::Cuda,
      .arch = file.at("arch").as_string(),
      .feature_level = static_cast<int>(number("feature_level")),
      .num_sms = static_cast<int>(number("num_sms")),
      .max_threads_per_block = static_cast<int>(number("max_threads_per_block")),
      .max_threads_per_sm = static_cast<int>(number("max_threads_per_sm")),
      .max_registers_per_sm = static_cast<int>(number("max_registers_per_sm")),
      .max_shared_bytes_per_block = number("max_shared_bytes_per_block"),
      .max_shared_bytes_per_sm = number("max_shared_bytes_per_sm"),
      .memory_bytes = number("memory_bytes")};
}

}  // namespace

std::string target_name(Target target) {
  switch (target) {
    case Target::Cpu:
      return "cpu";
    case Target::Cuda:
      return "cuda";
    default:
      return "cuda-emulated";
  }
}

Target parse_target(const std::string& name) {
  for (const Target target : {Target::Cpu, Target::Cuda, Target::CudaEmulated}) {
    if (target_name(target) == name) {
      return target;
    }
  }
  throw UserError(fmt::format("target: expected cpu, cuda or cuda-emulated, found \"{}\"", name));
}

bool has_clusters(const DeviceLimits& limits) {
  return limits.target == Target::CudaEmulated ||
         (limits.target == Target::Cuda && limits.feature_level >= 90);
}

std::string device_class(const DeviceLimits& limits) {
  if (limits.target == Target::Cpu) {
    return fmt::format("cpu:{}:{}", limits.name, limits.num_sms);
  }
  // Cards of one kind report a few MiB more or less.
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  const std::string restriction =
      limits.is_restricted
          ? fmt::format(
                ":features{}:shared{}", limits.feature_level, limits.max_shared_bytes_per_block
            )
          : "";
  return fmt::format(
      "{}:{}:{}:{}GiB{}",
      target_name(limits.target),
      limits.arch,
      limits.num_sms,
      (limits.memory_bytes + kGib / 2) / kGib,
      restriction
  );
}

DeviceLimits restricted(DeviceLimits limits, const Restriction& restriction) {
  const auto lower = [&](const char* flag, auto wanted, auto& limit) {
    if (wanted == 0) {
      return;
    }
    if (wanted < 0 || wanted > limit) {
      throw UserError(
          fmt::format("{} {}: expected 1 to {}, what {} has", flag, wanted, limit, limits.name)
      );
    }
    limits.is_restricted |= wanted < limit;
    limit = wanted;
  };
  const int level = restriction.feature_level;
  if (level != 0 && level != 80 && level != 90 && level != 100) {
    throw UserError(fmt::format("--feature-level {}: expected 80, 90 or 100", level));
  }
  lower("--feature-level", level, limits.feature_level);
  lower("--sms", restriction.num_sms, limits.num_sms);
  // Of each block the system takes 1 KiB more.
  constexpr std::int64_t kReservedBytes = 1024;
  const std::int64_t reserved = limits.max_shared_bytes_per_sm - limits.max_shared_bytes_per_block;
  lower("--shared-bytes", restriction.shared_bytes_per_block, limits.max_shared_bytes_per_block);
  if (restriction.shared_bytes_per_block != 0) {
    limits.max_shared_bytes_per_sm =
        limits.max_shared_bytes_per_block + std::min(reserved, kReservedBytes);
  }
  if (limits.is_restricted) {
    limits.name += fmt::format(
        " (features of sm_{}, {} SMs, {} B shared memory a block)",
        limits.feature_level,
        limits.num_sms,
        limits.max_shared_bytes_per_block
    );
  }
  return limits;
}

DeviceLimits load_device_limits(
    const std::string& name, const std::filesystem::path& devices_folder
) {
  if (std::filesystem::is_regular_file(name)) {
    return parse_limits(JsonCursor::parse_file(name));
  }
  const std::filesystem::path path = devices_folder / (name + ".json");
  if (std::filesystem::is_regular_file(path)) {
    return parse_limits(JsonCursor::parse_file(path));
  }
  std::vector<std::string> names;
  if (std::filesystem::is_directory(devices_folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(devices_folder)) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  throw UserError(fmt::format(
      "device {}: expected a file, or one of {} (from {})",
      name,
      fmt::join(names, ", "),
      devices_folder.string()
  ));
}

DeviceLimits host_limits(int num_threads) {
  const CpuInfo info = read_cpu_info();
  const int cores = num_allowed_cores();
  DeviceLimits limits{.name = info.model, .target = Target::Cpu, .arch = "native"};
  limits.num_sms = num_threads <= 0 ? cores : std::min(num_threads, cores);
  limits.vector_bytes = info.flags.find(" avx512f ") != std::string::npos ? 64
                        : info.flags.find(" avx2 ") != std::string::npos  ? 32
                                                                          : 16;
  return limits;
}

DeviceLimits emulated_limits() {
  return {
      .name = "emulated",
      .target = Target::CudaEmulated,
      .arch = "emulated",
      .feature_level = 80,
      .num_sms = 8,
      .max_threads_per_block = 1024,
      .max_threads_per_sm = 2048,
      .max_registers_per_sm = 65536,
      .max_shared_bytes_per_block = 166912,
      .max_shared_bytes_per_sm = 167936,
      .memory_bytes = std::int64_t{1} << 30};
}

}  // namespace whet
