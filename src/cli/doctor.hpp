#pragma once

#include <string>
#include <vector>

#include "cli/environment.hpp"

namespace whet {

/// `whet doctor`: what is installed, what is missing, and what to do.
struct DoctorOptions {
  std::string database;
  bool json = false;
};

/// One thing that whet uses.
struct Finding {
  enum class State { Fine, Optional, Missing };
  std::string name;
  State state = State::Fine;
  std::string found;  ///< what is there, or what is wrong
  std::string to_do;  ///< empty when nothing is
};

/// Looks without changing anything.
std::vector<Finding> examine(const DoctorOptions& options, const Environment& environment);

/// Prints the findings. Returns 0, or 3 when something is missing that the CPU target needs.
int run_doctor(const DoctorOptions& options, const Environment& environment);

}  // namespace whet
