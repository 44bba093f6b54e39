#pragma once

#include <cstdint>

namespace whet {

struct ReplayOptions {
  bool simulated = false;  ///< the only source there is yet
  int num_tunings = 2000;
  std::uint64_t seed = 0;
  bool json = false;
};

/// `whet replay --simulated`: how often ways to select err where the truth is known.
int run_replay(const ReplayOptions& options);

}  // namespace whet
