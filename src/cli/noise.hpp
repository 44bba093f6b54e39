#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"

namespace whet {

/// `whet doctor --noise`: an A/A test of this device.
struct NoiseOptions {
  std::string workload = "online";
  std::vector<std::string> dims;
  DeviceOptions device;
  int num_candidates = 50;  ///< beside the baseline, byte-identical to it
  std::uint64_t seed = 0;
  std::string output;  ///< empty: where the selector looks for devices of this class
  bool json = false;
};

/// Tunes over copies of the default configuration, prints and stores how timings scatter and what a
/// choice among them claims. Returns 1 when a copy was found to beat the baseline. Throws UserError
/// for the emulation, EnvironmentError when the default configuration is not valid here.
int run_noise(const NoiseOptions& options, const Environment& environment);

/// What an A/A test found of devices of this class (NoiseFloor::process_sd); 0 if there was none.
/// Throws UserError for a file that does not parse.
double known_process_sd(const DeviceLimits& limits, const Environment& environment);

}  // namespace whet
