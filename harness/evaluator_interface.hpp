#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluation/evaluation.hpp"
#include "schedule/configuration.hpp"

namespace whet {

/// Blocks of several candidates in fresh processes: in each process a seeded random order, then its
/// reverse, `num_rounds` times.
struct InterleavedRequest {
  std::vector<Configuration> candidates;
  bool with_peers = false;  ///< LibTorch takes part, in a process of its own each time
  int num_processes = 4;    ///< the unit of replication
  int num_rounds = 2;       ///< two blocks a candidate and round
  std::string purpose;      ///< of the sample blocks: "final", "publish"
  std::uint64_t seed = 0;
};

/// One candidate's blocks, or how it ended.
struct InterleavedEntry {
  Status status = Status::Ok;
  std::string detail;
  std::vector<SampleBlock> blocks;
};

/// What stands beside the candidates. Its failure is never blamed on one of them.
struct PeerEntry {
  std::string name;  ///< "libtorch-eager"
  InterleavedEntry entry;
};

struct InterleavedResult {
  std::vector<InterleavedEntry> candidates;  ///< in the request's order
  std::vector<PeerEntry> peers;              ///< none if the request wants none
};

/// What the tuner needs of the outside world. Methods throw only what ends the command.
class EvaluatorInterface {
 public:
  virtual ~EvaluatorInterface() = default;

  /// Makes what every candidate is compared with. Throws UserError for a workload whose reference
  /// could not tell right from wrong.
  virtual void prepare() = 0;
  /// "AMD EPYC, 2 threads": what was measured on, known after prepare().
  virtual std::string device() const = 0;
  /// How many candidates may be under way at once.
  virtual int capacity() const = 0;
  /// Puts a candidate forward; it may begin to be compiled.
  virtual void submit(const Configuration& configuration) = 0;
  /// What happened to the oldest candidate put forward; waits for it.
  virtual Evaluation next() = 0;
  /// Forgets the candidates under way.
  virtual void cancel() = 0;
  /// Measures candidates that were Ok against each other.
  virtual InterleavedResult measure_interleaved(const InterleavedRequest& request) = 0;
};

/// One candidate from start to end; nothing else may be under way.
inline Evaluation evaluate(EvaluatorInterface& evaluator, const Configuration& configuration) {
  evaluator.submit(configuration);
  return evaluator.next();
}

}  // namespace whet
