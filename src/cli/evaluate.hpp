#pragma once

#include <string>
#include <vector>

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"

namespace whet {

/// `whet evaluate W`: one configuration, all the way or up to its compiled code.
struct EvaluateOptions {
  std::string workload;
  std::vector<std::string> dims;
  DeviceOptions device;
  std::string configuration;  ///< "knob=value …"; the rest has defaults
  bool compile_only = false;
  std::vector<std::string> timelines;  ///< files for the timeline of a step: .json or .svg
  bool json = false;
};

/// Prints how the candidate ended. Returns 0 for Ok, else 1. Throws UserError for files of
/// `timelines` that cannot be written, before anything is run.
int run_evaluate(const EvaluateOptions& options, const Environment& environment);

}  // namespace whet
