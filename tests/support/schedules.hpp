#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "schedule/resolve.hpp"

namespace whet::testing {

/// The schedule of a configuration that is legal.
inline Schedule resolved(
    const Program& program, const std::string& configuration, const DeviceLimits& limits
) {
  auto outcome = resolve(program, parse_configuration(configuration), limits);
  if (const auto* violation = std::get_if<ConstraintViolation>(&outcome)) {
    throw InternalError(configuration + ": " + violation->constraint + ": " + violation->detail);
  }
  return std::get<Schedule>(std::move(outcome));
}

/// Calls `change` for every task, and says whether any call gave true.
inline bool change_tasks(Schedule& schedule, const std::function<bool(Task&)>& change) {
  bool changed = false;
  for (Phase& phase : schedule.phases) {
    for (Task& task : phase.tasks) {
      changed = change(task) || changed;
    }
  }
  return changed;
}

/// Whether a store goes to the state tensor of some program state, in `schedule`'s buffers.
inline bool is_state(const Program& program, const Schedule& schedule, const Access& access) {
  const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(access.buffer)];
  const auto first = static_cast<int>(program.inputs.size() + program.scalars.size());
  return buffer.storage == Storage::Argument && buffer.argument >= first &&
         buffer.argument < first + static_cast<int>(program.state.size());
}

/// Whether an access is to an output tensor.
inline bool is_output(const Program& program, const Schedule& schedule, const Access& access) {
  const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(access.buffer)];
  const auto first =
      static_cast<int>(program.inputs.size() + program.scalars.size() + program.state.size());
  return buffer.storage == Storage::Argument && buffer.argument >= first;
}

}  // namespace whet::testing
