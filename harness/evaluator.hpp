#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "harness/compile_pool.hpp"
#include "harness/evaluator_interface.hpp"
#include "harness/messages.hpp"
#include "harness/reference_client.hpp"
#include "harness/worker_client.hpp"
#include "ir/workload.hpp"

namespace whet {

/// Where the child programs are, what they run on, and how long they may take.
struct EvaluatorOptions {
  std::vector<std::string> compile_command;    ///< whet-compile
  std::vector<std::string> worker_command;     ///< whet-worker
  std::vector<std::string> reference_command;  ///< whet-reference
  WorkloadSource workload;
  DeviceLimits limits;
  std::string device;   ///< CUDA ordinal or UUID
  int num_threads = 0;  ///< CPU target
  int num_compilers = 1;
  std::filesystem::path tolerances;
  std::filesystem::path cache_folder;
  CompileOptions compile;
  /// Beyond CompileOptions::timeout, which ends a slow compiler politely.
  std::chrono::milliseconds compile_grace{15'000};
  WorkerDeadlines worker_deadlines;
  std::chrono::milliseconds reference_deadline{600'000};
  BlockPlan block;     ///< of every measurement
  int num_steps = 20;  ///< of the replayed sequence that is timed
  int num_screen_blocks = 3;
};

/// Options with the programs of `program_folder` and the target's way of timing: one replay a
/// sample on a GPU, batches of at least 1 ms on a CPU.
EvaluatorOptions make_evaluator_options(
    const std::filesystem::path& program_folder, const DeviceLimits& limits
);

/// The parent's side of the harness: whet-compile children, one whet-worker at a time, and the
/// reference. What a child does wrong becomes the Status of a candidate; children are replaced, and
/// none outlives the object. A fault blames nobody at first, since another candidate, another
/// program or a lack of memory may be its cause: the candidate is tried once more, alone in a fresh
/// worker.
class Evaluator final : public EvaluatorInterface {
 public:
  /// Throws UserError for a workload that does not parse.
  explicit Evaluator(EvaluatorOptions options);
  ~Evaluator() override;

  void prepare() override;
  std::string device() const override { return device_; }
  int capacity() const override;
  void submit(const Configuration& configuration) override;
  Evaluation next() override;
  void cancel() override;
  InterleavedResult measure_interleaved(const InterleavedRequest& request) override;

  /// Loads candidates that were Ok into a fresh worker, where they stay until something else is
  /// measured or evaluated. A fault is what measure_resident answers.
  void keep_resident(const std::vector<Configuration>& candidates);
  /// A block of the resident candidate at this position of the list, so that blocks of ours can
  /// alternate with those of another program. After a fault, of loading too, each call answers with
  /// it.
  std::variant<MeasuredBlock, Outcome> measure_resident(std::size_t position);

  /// The timeline of a step of the configuration's profile build, in a fresh worker; after
  /// prepare(). The configuration was Ok without stamps.
  TimelineResponse timeline(const Configuration& configuration);
  /// The candidate's way up to its artifact, without a device.
  CompileResponse compile(const Configuration& configuration);
  /// The reference bundles, one a seed; after prepare().
  const std::vector<std::filesystem::path>& bundles() const { return bundles_; }
  /// LibTorch's version; after prepare().
  const std::string& libtorch_version() const { return libtorch_version_; }

 private:
  struct UnderWay {
    Configuration configuration;
    CompilePool::Ticket ticket = 0;
  };

  CompileRequest compile_request(const Configuration& configuration) const;
  CompileResponse artifact_of(const Configuration& configuration);
  WorkerClient& worker();
  WorkerClient& start_worker();
  Outcome run_candidate(const CompileResponse& compiled, Evaluation& evaluation);
  void run_with_retry(const CompileResponse& compiled, Evaluation& evaluation);

  EvaluatorOptions options_;
  Workload workload_;
  CompilePool compilers_;
  std::unique_ptr<WorkerClient> worker_;
  Outcome resident_outcome_;  ///< how the worker of keep_resident fares
  std::int64_t num_workers_ = 0;
  std::deque<UnderWay> under_way_;
  std::map<Configuration, CompileResponse> artifacts_;
  std::vector<std::filesystem::path> bundles_;
  std::string libtorch_version_;
  std::string device_;
};

}  // namespace whet
