#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/evaluator_interface.hpp"
#include "schedule/search_space.hpp"
#include "store/record_store.hpp"
#include "tuner/budget.hpp"
#include "tuner/selector.hpp"
#include "tuner/strategy.hpp"

namespace whet {

/// How a workload is tuned.
struct SessionOptions {
  Budget budget;
  SelectorOptions selector;
  int num_finalists = 5;  ///< beside the baseline
  /// No look follows the first once the finalists took this part of the search's time.
  double final_share = 0.5;
  int num_publish_processes = 4;  ///< fresh processes after the choice
  std::uint64_t seed = 0;
  bool with_peers = true;  ///< measure LibTorch beside the winner

  bool operator==(const SessionOptions&) const = default;
};

/// What happens during a session, for a progress bar.
class SessionEvents {
 public:
  virtual ~SessionEvents() = default;
  virtual void announce(const std::string& what) = 0;
  virtual void observe(const Evaluation& evaluation) = 0;
};

/// What a session came to. Everything in it has been committed.
struct SessionOutcome {
  Decision decision;
  std::vector<Evaluation> evaluations;  ///< with the samples of all rounds
  bool interrupted = false;  ///< the search was cut short; the decision is on what was done
};

/// Tunes one workload: the baseline first, then what the strategy proposes until the budget ends or
/// `interrupted` turns true; each evaluation is committed before the next is asked for. Evaluations
/// that `session` already holds are observed, not repeated. Then the finalists are measured against
/// each other in fresh processes, look by look until the selector has settled. After the choice the
/// winner, the baseline and LibTorch are measured in further fresh processes: from them come the
/// published times, and whether to delegate to LibTorch.
SessionOutcome run_session(
    EvaluatorInterface& evaluator,
    const SearchSpace& space,
    Strategy& strategy,
    RecordStore& store,
    SessionId session,
    const SessionOptions& options,
    SessionEvents& events,
    const std::atomic<bool>& interrupted
);

}  // namespace whet
