#include "harness/interleaved_measurement.hpp"

#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "timing/interleaving.hpp"

namespace whet {
namespace {

/// Faults that no candidate repeats alone are the machine's; after so many of them nothing that is
/// measured here can be trusted.
constexpr int kMaxInnocentFaults = 3;

/// One process's blocks, kept apart until all of them ended well.
struct ProcessBlocks {
  std::vector<std::vector<SampleBlock>> candidates;
  std::vector<std::vector<SampleBlock>> peers;
  Outcome fault;       ///< of the worker
  Outcome peer_fault;  ///< of the peers' one process: we go on without it
};

/// The candidates that take part, as positions in the request.
std::vector<std::size_t> alive(const InterleavedResult& result) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    if (result.candidates[i].status == Status::Ok) {
      positions.push_back(i);
    }
  }
  return positions;
}

MeasureResponse measure_block_of(
    WorkerClient& worker, const InterleavedSetup& setup, std::size_t position
) {
  return worker.measure(
      {.order = {static_cast<std::int64_t>(position)},
       .bundle = setup.bundle,
       .num_steps = setup.num_steps,
       .plan = setup.plan}
  );
}

void measure_peer_block(
    PeerClient& client,
    const InterleavedSetup& setup,
    std::size_t peer,
    const std::string& purpose,
    std::int64_t block_idx,
    ProcessBlocks& blocks
) {
  const auto timed = client.time(setup.peers[peer]);
  if (const auto* fault = std::get_if<Outcome>(&timed)) {
    blocks.peer_fault = *fault;
    return;
  }
  blocks.peers[peer].push_back(
      to_sample_block(std::get<MeasuredBlock>(timed), setup.process(), block_idx, purpose)
  );
}

/// One fresh process (and one for the peers), in the order that `seed` gives.
ProcessBlocks measure_process(
    const InterleavedSetup& setup,
    const InterleavedRequest& request,
    const std::vector<CompileResponse>& compiled,
    const std::vector<std::size_t>& positions,
    bool with_peers,
    std::uint64_t seed
) {
  ProcessBlocks blocks;
  blocks.candidates.resize(compiled.size());
  blocks.peers.resize(setup.peers.size());
  WorkerClient& worker = setup.start_worker();
  for (const std::size_t position : positions) {
    blocks.fault = worker.load(static_cast<std::int64_t>(position), compiled[position]);
    if (blocks.fault.status != Status::Ok) {
      return blocks;
    }
  }
  const std::unique_ptr<PeerClient> peers = with_peers ? setup.start_peers() : nullptr;
  const std::size_t num_subjects = positions.size() + (with_peers ? setup.peers.size() : 0);
  std::int64_t block_idx = 0;
  for (const int subject :
       interleaved_order(static_cast<int>(num_subjects), request.num_rounds, seed)) {
    const auto subject_idx = static_cast<std::size_t>(subject);
    if (subject_idx >= positions.size()) {
      if (blocks.peer_fault.status == Status::Ok) {
        const std::size_t peer = subject_idx - positions.size();
        measure_peer_block(*peers, setup, peer, request.purpose, block_idx, blocks);
      }
    } else {
      const std::size_t position = positions[subject_idx];
      const MeasureResponse measured = measure_block_of(worker, setup, position);
      if (measured.outcome.status != Status::Ok) {
        blocks.fault = measured.outcome;
        return blocks;
      }
      blocks.candidates[position].push_back(
          to_sample_block(measured.blocks.at(0), setup.process(), block_idx, request.purpose)
      );
    }
    ++block_idx;
  }
  return blocks;
}

void keep(ProcessBlocks blocks, InterleavedResult& result) {
  for (std::size_t i = 0; i < blocks.candidates.size(); ++i) {
    std::vector<SampleBlock>& kept = result.candidates[i].blocks;
    std::move(blocks.candidates[i].begin(), blocks.candidates[i].end(), std::back_inserter(kept));
  }
  for (std::size_t i = 0; i < result.peers.size(); ++i) {
    InterleavedEntry& entry = result.peers[i].entry;
    std::move(blocks.peers[i].begin(), blocks.peers[i].end(), std::back_inserter(entry.blocks));
    if (blocks.peer_fault.status != Status::Ok) {
      entry.status = blocks.peer_fault.status;
      entry.detail = blocks.peer_fault.detail;
    }
  }
}

/// Tries each candidate alone in a fresh worker. Gives the number of those that failed.
int blame(
    const InterleavedSetup& setup,
    const std::vector<CompileResponse>& compiled,
    const std::vector<std::size_t>& positions,
    InterleavedResult& result
) {
  int num_blamed = 0;
  for (const std::size_t position : positions) {
    WorkerClient& worker = setup.start_worker();
    Outcome outcome = worker.load(static_cast<std::int64_t>(position), compiled[position]);
    if (outcome.status == Status::Ok) {
      outcome = measure_block_of(worker, setup, position).outcome;
    }
    if (outcome.status != Status::Ok) {
      result.candidates[position].status = outcome.status;
      result.candidates[position].detail = outcome.detail;
      ++num_blamed;
    }
  }
  return num_blamed;
}

InterleavedResult empty_result(
    const InterleavedSetup& setup,
    const InterleavedRequest& request,
    const std::vector<CompileResponse>& compiled
) {
  InterleavedResult result;
  for (const CompileResponse& response : compiled) {
    result.candidates.push_back({.status = response.status, .detail = response.detail, .blocks = {}}
    );
  }
  if (request.with_peers) {
    for (const std::string& name : setup.peers) {
      result.peers.push_back({.name = name, .entry = {}});
    }
  }
  return result;
}

}  // namespace

SampleBlock to_sample_block(
    const MeasuredBlock& measured,
    std::int64_t process,
    std::int64_t position,
    const std::string& purpose
) {
  return {
      .process = process,
      .block = position,
      .num_steps = measured.num_steps,
      .purpose = purpose,
      .samples = measured.samples};
}

InterleavedResult measure_interleaved(
    const InterleavedSetup& setup,
    const InterleavedRequest& request,
    const std::vector<CompileResponse>& compiled
) {
  InterleavedResult result = empty_result(setup, request, compiled);
  int num_innocent_faults = 0;
  for (int process = 0; process < request.num_processes;) {
    const std::vector<std::size_t> positions = alive(result);
    if (positions.empty()) {
      break;
    }
    const bool with_peers =
        !result.peers.empty() && result.peers.front().entry.status == Status::Ok;
    const std::uint64_t seed = request.seed + static_cast<std::uint64_t>(process);
    ProcessBlocks blocks = measure_process(setup, request, compiled, positions, with_peers, seed);
    if (blocks.fault.status == Status::Ok) {
      keep(std::move(blocks), result);
      ++process;
      num_innocent_faults = 0;
      continue;
    }
    if (blame(setup, compiled, positions, result) == 0 &&
        ++num_innocent_faults >= kMaxInnocentFaults) {
      throw EnvironmentError(fmt::format(
          "measuring failed {} times in a row, but no candidate fails alone; is the machine shared "
          "or out "
          "of "
          "memory? Last: {}",
          num_innocent_faults,
          blocks.fault.detail
      ));
    }
  }
  return result;
}

}  // namespace whet
