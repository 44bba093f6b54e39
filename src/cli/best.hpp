#pragma once

#include <string>
#include <vector>

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"

namespace whet {

/// `whet best W`: what the database advises for a workload on a device.
struct BestOptions {
  std::string workload;
  std::vector<std::string> dims;
  DeviceOptions device;
  std::string database;
  bool json = false;
};

/// Prints the match. Returns 0 for an exact one, 1 for another; throws EnvironmentError when the
/// database cannot be read, which is not the same as holding nothing.
int run_best(const BestOptions& options, const Environment& environment);

}  // namespace whet
