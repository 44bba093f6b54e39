#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "harness/messages.hpp"
#include "harness/reference_bundle.hpp"
#include "harness/resident_candidate.hpp"
#include "jit/executor.hpp"

namespace whet {

/// Candidates of a worker by id.
using ResidentCandidates = std::map<std::int64_t, std::unique_ptr<ResidentCandidate>>;

/// What has to outlive one request: which candidates hold the bundle's data and are warm, and what
/// they replay.
class CandidateTiming {
 public:
  explicit CandidateTiming(Executor& executor) : executor_(executor) {}
  /// Samples the blocks of `request` in their order. A candidate's first block is preceded by
  /// warm-up. Throws DeviceFault; a barrier that was given up on ends the request with BarrierHang.
  MeasureResponse measure(
      const ResidentCandidates& candidates,
      const MeasureRequest& request,
      const ReferenceBundle& bundle
  );
  /// Another use of the candidate's tensors, or its end: its next block starts anew.
  void forget(std::int64_t id) { prepared_.erase(id); }
  /// In whose block the last call to measure was when it threw.
  std::int64_t current_id() const { return current_id_; }

 private:
  struct Prepared {
    std::unique_ptr<Replay> replay;
    int num_steps = 0;
    std::uint64_t seed = 0;
  };
  Prepared& prepare(
      ResidentCandidate& candidate,
      std::int64_t id,
      const MeasureRequest& request,
      const ReferenceBundle& bundle
  );

  Executor& executor_;
  std::map<std::int64_t, Prepared> prepared_;
  std::int64_t current_id_ = -1;
};

}  // namespace whet
