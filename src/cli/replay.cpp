#include "cli/replay.hpp"

#include <fmt/format.h>

#include "tuner/policy_comparison.hpp"

namespace whet {

int run_replay(const ReplayOptions& options) {
  const auto tallies =
      compare_policies(noise_settings(), selection_policies(), options.num_tunings, options.seed);
  if (options.json) {
    fmt::print("{}\n", policies_document(tallies, options.seed).dump(2));
  } else {
    fmt::print("{}", policies_markdown(tallies));
  }
  return 0;
}

}  // namespace whet
