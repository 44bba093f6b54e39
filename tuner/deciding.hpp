#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "evaluation/evaluation.hpp"
#include "store/decision.hpp"
#include "tuner/looks.hpp"
#include "tuner/selector.hpp"

namespace whet {

/// Indices of those that are measured against each other: the baseline, if it is valid, and the
/// fastest others by their screening medians.
std::vector<std::size_t> choose_finalists(
    const std::vector<Evaluation>& evaluations, const Configuration& baseline, int num_finalists
);

/// Blocks of `purpose` from processes of the run that began with `first_process`.
std::vector<SampleBlock> blocks_for(
    const Evaluation& evaluation, const std::string& purpose, std::int64_t first_process
);

/// The finalists with the blocks that the choice rests on. The fastest screened stands in for a
/// baseline that is none of them.
Finalists finalists_with_blocks(
    const std::vector<Evaluation>& evaluations,
    const std::vector<std::size_t>& indices,
    const Configuration& baseline,
    std::int64_t first_process
);

/// What `choice` advises, and the figures behind it.
Decision advise(const Choice& choice, const Finalists& finalists, const SelectorOptions& options);

/// Samples taken after the choice, all in the same processes.
struct FreshSamples {
  struct Peer {
    std::string name;
    std::vector<SampleBlock> blocks;
  };
  std::vector<SampleBlock> winner;
  Configuration baseline;
  bool is_default = true;  ///< the baseline is the default configuration, not its stand-in
  std::vector<SampleBlock> baseline_blocks;
  std::vector<Peer> peers;
};

/// What fresh samples make of a decision: the published times; the baseline instead of a winner
/// that they do not find faster; the fastest peer that is surely faster than ours.
void publish(Decision& decision, const FreshSamples& samples, const SelectorOptions& options);

}  // namespace whet
