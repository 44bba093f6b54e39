#pragma once

#include "harness/evaluator_interface.hpp"
#include "tuner/looks.hpp"
#include "tuner/noise_floor.hpp"
#include "tuner/session.hpp"

namespace whet {

/// What became of a tuning whose candidates are all the same.
struct AaTest {
  std::vector<double> screening_ns;  ///< median of each candidate, the baseline first
  Finalists finalists;               ///< of them the baseline is the first
  Choice choice;
  int num_false_wins = 0;  ///< finalists that lose when they are the baseline
  NoiseFloor noise;
};

/// Tunes over a baseline and `num_candidates` byte-identical to it, by the procedure of a session:
/// each is screened in a process of its own, the fastest go on against the baseline in fresh
/// processes, look by look to the last. `configuration` was evaluated and is Ok. Source: A/A tests,
/// docs/method.md. Throws EnvironmentError when it stops being measurable.
AaTest run_aa_test(
    EvaluatorInterface& evaluator,
    const Configuration& configuration,
    int num_candidates,
    const SessionOptions& options
);

}  // namespace whet
