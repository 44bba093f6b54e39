#include "cli/record_identity.hpp"

#include <chrono>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/subprocess.hpp"
#include "jit/nvrtc.hpp"

namespace whet {
namespace {

/// "c++ (Debian 12.2.0-14) 12.2.0".
std::string host_compiler_version() {
  try {
    const ProcessResult result =
        run_process({.arguments = {"c++", "--version"}}, std::chrono::seconds(30));
    return result.output.substr(0, result.output.find('\n'));
  } catch (const EnvironmentError&) {
    return "";
  }
}

std::string nvrtc_version() {
  try {
    return find_nvrtc({}).version;
  } catch (const EnvironmentError&) {
    return "";
  }
}

}  // namespace

LookupKey lookup_key(
    const WorkloadChoice& workload, const DeviceLimits& limits, const Environment& environment
) {
  constexpr std::size_t kDigits = 16;  // 64 bits tell tolerance files apart
  const std::string tolerances = read_file(configs_folder(environment) / "tolerances.json");
  return {
      .workload_key = workload.key,
      .device_class = device_class(limits),
      .target = limits.target,
      .tolerance_set = sha256_hex(tolerances).substr(0, kDigits)};
}

Json generating_versions(Target target) {
  Json versions{{"whet", WHET_VERSION}};
  const bool is_gpu = target == Target::Cuda;
  const std::string compiler = is_gpu ? nvrtc_version() : host_compiler_version();
  if (!compiler.empty()) {
    versions[is_gpu ? "nvrtc" : "compiler"] = compiler;
  }
  return versions;
}

}  // namespace whet
