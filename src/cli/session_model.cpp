#include "cli/session_model.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/error.hpp"
#include "cli/device_files.hpp"
#include "ir/workload.hpp"
#include "model/predict.hpp"
#include "schedule/resolve.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

/// The program of a session's own text, if it is what the session tuned.
std::optional<Program> stored_program(const SessionInfo& session) {
  DimOverrides dims;
  if (const auto found = session.options.find("dims"); found != session.options.end()) {
    dims = found->get<DimOverrides>();
  }
  try {
    Program step = parse_workload(session.workload_text, session.workload_name, dims).step;
    return workload_key(step) == session.workload_key ? std::optional(std::move(step))
                                                      : std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;  // an earlier version's workload
  }
}

/// "cpu:<model>:<threads>": as many threads of a host like that.
std::optional<DeviceLimits> cpu_limits(const std::string& device_class) {
  DeviceLimits limits = host_limits(0);
  const std::size_t colon = device_class.rfind(':');
  int num_threads = 0;
  const char* end = device_class.data() + device_class.size();
  if (colon == std::string::npos ||
      std::from_chars(device_class.data() + colon + 1, end, num_threads).ptr != end) {
    return std::nullopt;
  }
  limits.num_sms = num_threads;
  return device_class == whet::device_class(limits) ? std::optional(limits) : std::nullopt;
}

std::optional<DeviceLimits> shipped_limits(
    const std::string& device_name, const Environment& environment
) {
  const fs::path folder = configs_folder(environment) / "devices";
  for (const auto& entry : fs::directory_iterator(folder)) {
    DeviceLimits limits = load_device_limits(entry.path().string(), folder);
    if (limits.name == device_name) {
      return limits;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<DeviceCosts> known_costs(const DeviceLimits& limits, const Environment& environment) {
  std::error_code error;
  const fs::path calibrated = device_file("costs", limits, environment);
  if (!calibrated.empty() && fs::exists(calibrated, error)) {
    return load_device_costs(calibrated);
  }
  return find_device_costs(limits.name, configs_folder(environment) / "costs");
}

std::variant<ModelInputs, std::string> session_model(
    const SessionInfo& session,
    const std::optional<Program>& program,
    const Environment& environment
) {
  const std::optional<Program> step = program ? program : stored_program(session);
  if (!step) {
    return "the session does not hold its dimensions; name the workload with --dim";
  }
  const std::optional<DeviceLimits> limits = session.target == Target::Cpu
                                                 ? cpu_limits(session.device_class)
                                                 : shipped_limits(session.device_name, environment);
  if (!limits) {
    return fmt::format("{} is neither this host nor in configs/devices", session.device_name);
  }
  std::optional<DeviceCosts> costs = known_costs(*limits, environment);
  if (!costs) {
    return fmt::format(
        "no costs for {}: `whet doctor --calibrate` measures them", session.device_name
    );
  }
  return ModelInputs{.program = *step, .limits = *limits, .costs = std::move(*costs)};
}

std::optional<double> predicted_ns(const ModelInputs& inputs, const Configuration& configuration) {
  const auto outcome = resolve(inputs.program, configuration, inputs.limits);
  const auto* schedule = std::get_if<Schedule>(&outcome);
  return schedule == nullptr
             ? std::nullopt
             : std::optional(total_ns(predict(*schedule, inputs.limits, inputs.costs)));
}

}  // namespace whet
