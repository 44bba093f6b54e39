#include "cli/device_choice.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "jit/cuda_device.hpp"

namespace whet {
namespace {

/// An ordinal, a UUID, or nothing: a device of this machine. Else a description in a file.
bool names_present_device(const std::string& device) {
  return device.starts_with("GPU-") || device.starts_with("MIG-") ||
         std::ranges::all_of(device, [](unsigned char c) { return std::isdigit(c) != 0; });
}

Target chosen_target(const DeviceOptions& options) {
  if (!options.target.empty()) {
    return parse_target(options.target);
  }
  return options.device.empty() ? Target::Cpu : Target::Cuda;
}

void refuse_flag(const char* flag, const std::string& value, Target target) {
  throw UserError(
      fmt::format("{} {}: not a choice with --target {}; drop it", flag, value, target_name(target))
  );
}

void refuse_restriction(const Restriction& restriction, Target target) {
  if (restriction.feature_level != 0) {
    refuse_flag("--feature-level", std::to_string(restriction.feature_level), target);
  }
  if (restriction.num_sms != 0) {
    refuse_flag("--sms", std::to_string(restriction.num_sms), target);
  }
  if (restriction.shared_bytes_per_block != 0) {
    refuse_flag("--shared-bytes", std::to_string(restriction.shared_bytes_per_block), target);
  }
}

/// Throws EnvironmentError with the way out when this machine has no GPU that can be used.
void require_gpu() {
  const DriverInfo info = query_driver();
  if (info.devices.empty()) {
    throw EnvironmentError(fmt::format(
        "--target cuda needs a GPU of this machine: {}\n"
        "Without one: --target cpu tunes for the CPU, --target cuda-emulated checks the CUDA "
        "kernels, and `whet evaluate W --compile-only --device h200` compiles for a GPU that is "
        "not there.",
        info.problem
    ));
  }
}

}  // namespace

DeviceChoice choose_device(const DeviceOptions& options, const Environment& environment) {
  const Target target = chosen_target(options);
  if (target != Target::Cuda && !options.device.empty()) {
    refuse_flag("--device", options.device, target);
  }
  if (target != Target::Cpu && options.num_threads != 0) {
    refuse_flag("--threads", std::to_string(options.num_threads), target);
  }
  if (target != Target::Cuda) {
    refuse_restriction(options.restriction, target);
  }
  switch (target) {
    case Target::Cpu:
      return {.limits = host_limits(options.num_threads), .handle = ""};
    case Target::CudaEmulated:
      return {.limits = emulated_limits(), .handle = ""};
    case Target::Cuda:
      break;
  }
  if (names_present_device(options.device)) {
    require_gpu();
    return {
        .limits = restricted(query_device_limits(options.device), options.restriction),
        .handle = options.device};
  }
  const auto devices = configs_folder(environment) / "devices";
  return {
      .limits = restricted(load_device_limits(options.device, devices), options.restriction),
      .handle = ""};
}

DeviceChoice choose_present_device(const DeviceOptions& options, const Environment& environment) {
  DeviceChoice choice = choose_device(options, environment);
  if (choice.limits.target != Target::Cuda || names_present_device(options.device)) {
    return choice;
  }
  require_gpu();
  const DeviceLimits present = query_device_limits("");
  if (present.arch != choice.limits.arch || present.num_sms < choice.limits.num_sms) {
    throw UserError(fmt::format(
        "--device {}: expected a GPU like it ({}, {} SMs), found {} ({}, {} SMs); leave --device "
        "out, or add --compile-only",
        options.device,
        choice.limits.arch,
        choice.limits.num_sms,
        present.name,
        present.arch,
        present.num_sms
    ));
  }
  return choice;
}

}  // namespace whet
