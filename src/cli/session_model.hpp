#pragma once

#include <optional>
#include <string>
#include <variant>

#include "cli/environment.hpp"
#include "evaluation/evaluation.hpp"
#include "ir/program.hpp"
#include "model/device_costs.hpp"
#include "schedule/device_limits.hpp"
#include "store/record_store.hpp"

namespace whet {

/// What is known of a device: measured here, else shipped for a device of its name, else nothing.
/// Throws UserError for a file that does not parse.
std::optional<DeviceCosts> known_costs(const DeviceLimits& limits, const Environment& environment);

/// What the model works on.
struct ModelInputs {
  Program program;
  DeviceLimits limits;
  DeviceCosts costs;
};

/// Those of a stored session, or why it has none in one sentence. A session of a workload at other
/// dimensions than its file's that does not hold them needs `program`.
std::variant<ModelInputs, std::string> session_model(
    const SessionInfo& session,
    const std::optional<Program>& program,
    const Environment& environment
);

/// ns a step; nothing for a configuration that is refused.
std::optional<double> predicted_ns(const ModelInputs& inputs, const Configuration& configuration);

}  // namespace whet
