#pragma once

#include <string>
#include <vector>

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"

namespace whet {

/// `whet show W`: one thing that a workload becomes on its way to a kernel.
struct ShowOptions {
  enum class What { Summary, Space, Program, Schedule, Source };
  What what = What::Summary;
  std::string workload;
  std::vector<std::string> dims;
  DeviceOptions device;
  std::string configuration;  ///< "knob=value …"; the rest has defaults
};

/// Prints to standard output. Returns 0, or 1 if a constraint refuses the configuration.
int run_show(const ShowOptions& options, const Environment& environment);

}  // namespace whet
