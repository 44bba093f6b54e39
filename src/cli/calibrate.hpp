#pragma once

#include <string>

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"

namespace whet {

/// `whet doctor --calibrate`: what the costs of a GPU, or of the host, are.
struct CalibrateOptions {
  DeviceOptions device;
  std::string output;  ///< empty: where the model looks first for devices of this class
  bool json = false;   ///< print the costs' file
};

/// Measures in a child process, stores the costs with every raw sample, and prints them. Returns 0.
/// Throws UserError for the emulation, EnvironmentError when there is no GPU or the
/// child fails, with its text.
int run_calibrate(const CalibrateOptions& options, const Environment& environment);

}  // namespace whet
