#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/child_process.hpp"
#include "harness/messages.hpp"
#include "ir/workload.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// How whet-reference is run.
struct ReferenceOptions {
  std::vector<std::string> command;
  WorkloadSource workload;
  Target target = Target::Cpu;
  int num_threads = 0;  ///< CPU target
  std::string device;   ///< CUDA ordinal or UUID
  std::filesystem::path cache_folder;
  std::filesystem::path tolerances;
  std::chrono::milliseconds deadline{600'000};
};

/// The bundles of a workload's seeds.
struct ReferenceBundles {
  std::vector<std::filesystem::path> paths;  ///< one a seed
  std::string libtorch_version;
};

/// Finds the bundles in the cache folder by workload, data, seed and LibTorch version, or has them
/// made. Throws UserError for a bundle that could not tell right from wrong, saying for which
/// tensor, and EnvironmentError when whet-reference fails.
ReferenceBundles ensure_bundles(const Workload& workload, const ReferenceOptions& options);

/// What a PeerClient times: "libtorch-eager", and on a GPU "libtorch-graph", its steps in a graph.
std::vector<std::string> peer_names(Target target);

/// LibTorch on the same workload and device, timed block by block.
class PeerClient {
 public:
  /// Starts the process. `block_deadline` covers one block, and the start.
  PeerClient(
      const ReferenceOptions& options,
      int num_steps,
      const BlockPlan& plan,
      std::chrono::milliseconds block_deadline
  );
  /// One block, the state restored before each sample; or how the process ended.
  std::variant<MeasuredBlock, Outcome> time(const std::string& peer);

 private:
  std::variant<Sample, Outcome> time_sample(const std::string& peer, int num_steps);

  int num_steps_;
  BlockPlan plan_;
  std::chrono::milliseconds block_deadline_;
  ChildProcess child_;
  std::optional<Outcome> ended_;
};

}  // namespace whet
