#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"

namespace whet {

/// `whet compare W BASE CANDIDATE`: two configurations of a workload, timed in the same processes.
/// Each is "default", "stored" (the winner of the database) or "knob=value …".
struct CompareOptions {
  std::string workload;
  std::vector<std::string> dims;
  std::string base;
  std::string candidate;
  DeviceOptions device;
  std::string database;
  std::uint64_t seed = 0;
  bool json = false;
};

/// Prints FASTER, SAME, SLOWER or UNDECIDED. Returns 1 for SLOWER, and where one of the two is not
/// valid. Throws UserError for a configuration that the space lacks, or "stored" where nothing is.
int run_compare(const CompareOptions& options, const Environment& environment);

}  // namespace whet
