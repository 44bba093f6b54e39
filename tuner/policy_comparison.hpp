#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "tuner/selection_policies.hpp"

namespace whet {

/// True times of the candidates of a tuning.
enum class SimulatedTruth {
  Identical,  ///< the baseline and 40 like it
  NearTies,   ///< the baseline and 60 around 5 % slower, the fastest at most 3 % faster
  OneWinner,  ///< the same, and one that is 15 % faster
};
/// "identical", "near ties", "one winner".
std::string truth_name(SimulatedTruth truth);

/// How a policy did in tunings of one setting and truth. Counts are of tunings.
struct PolicyTally {
  std::string policy;
  std::string setting;
  std::string truth;
  std::int64_t num_tunings = 0;
  std::int64_t num_left_baseline = 0;
  /// Something was claimed, and it is false: the pick beats the baseline (claimed by leaving it),
  /// the tie set holds the fastest finalist, the pick is as near to it as was said.
  std::int64_t num_false_claims = 0;
  std::int64_t num_within = 0;  ///< the pick was said to be within the indifference
  std::int64_t num_slow = 0;    ///< the pick is slower than the fastest of all by more than that
  double mean_regret = 0.0;     ///< time of the pick / least time of all - 1
  double mean_samples = 0.0;    ///< timings spent
};

/// `num_tunings` of each setting, truth and policy; same seed, same tallies.
std::vector<PolicyTally> compare_policies(
    const std::vector<NoiseSetting>& settings,
    const std::vector<SelectionPolicy>& policies,
    int num_tunings,
    std::uint64_t seed
);

/// whet.policies/1 (docs/formats/policies.md).
Json policies_document(const std::vector<PolicyTally>& tallies, std::uint64_t seed);
/// A table a truth, with the 95 % interval (Clopper and Pearson) of each share of false claims.
std::string policies_markdown(const std::vector<PolicyTally>& tallies);

}  // namespace whet
