#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/evaluator_interface.hpp"
#include "harness/messages.hpp"
#include "harness/reference_client.hpp"
#include "harness/worker_client.hpp"

namespace whet {

/// What an interleaved measurement needs of its surroundings.
struct InterleavedSetup {
  /// Ends the present worker and starts a fresh one, valid until the next call.
  std::function<WorkerClient&()> start_worker;
  std::vector<std::string> peers;  ///< names that a PeerClient times
  std::function<std::unique_ptr<PeerClient>()> start_peers;
  /// Number of the present worker in the session.
  std::function<std::int64_t()> process;
  std::filesystem::path bundle;
  int num_steps = 20;
  BlockPlan plan;
};

/// Measures compiled candidates (those whose status is Ok) in `request.num_processes` fresh
/// processes. A fault in one ends its process; each candidate is then tried alone in a fresh
/// worker, only those that fail there are blamed and left out, and the process is repeated without
/// them. Throws EnvironmentError when processes keep failing though no candidate fails alone.
InterleavedResult measure_interleaved(
    const InterleavedSetup& setup,
    const InterleavedRequest& request,
    const std::vector<CompileResponse>& compiled
);

/// The record of a block that stood at `position` of its process.
SampleBlock to_sample_block(
    const MeasuredBlock& measured,
    std::int64_t process,
    std::int64_t position,
    const std::string& purpose
);

}  // namespace whet
