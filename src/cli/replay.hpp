#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/environment.hpp"

namespace whet {

struct ReplayOptions {
  std::vector<std::string> files;  ///< reports with their samples; none: the database
  std::string database;            ///< empty: WHET_DB or the user's
  bool simulated = false;
  int num_tunings = 2000;
  std::uint64_t seed = 0;
  bool json = false;
};

/// `whet replay`: decides again from stored samples, or, with --simulated, says how often ways to
/// select err where the truth is known. 1 where a decision comes out otherwise, or there is none.
int run_replay(const ReplayOptions& options, const Environment& environment);

}  // namespace whet
