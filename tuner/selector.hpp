#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/evaluation.hpp"
#include "store/decision.hpp"

namespace whet {

/// A candidate that was measured again, with its blocks from several fresh processes.
struct Finalist {
  Configuration configuration;
  bool deterministic = false;
  Resources resources;
  std::vector<SampleBlock> blocks;
};

struct SelectorOptions {
  double alpha = 0.05;         ///< P(a claim is made and is false) is at most this
  double indifference = 0.01;  ///< differences below this fraction do not matter

  bool operator==(const SelectorOptions&) const = default;
};

/// What the selector makes of the finalists.
struct Selection {
  std::size_t pick = 0;               ///< index of the finalist to use
  bool leaves_baseline = false;       ///< some finalist surely beats the baseline
  std::vector<std::size_t> tie_set;   ///< those that no other surely beats, the pick among them
  std::vector<double> mean_log_ratio; ///< of each finalist to the baseline
  int num_processes = 0;              ///< in which all took part
};

/// Chooses among finalists that ran interleaved in the same processes. The unit of replication is the
/// process: one number a candidate a process, the mean log of its block medians, paired with the
/// baseline's. One-sided paired t tests, alpha shared out by Holm's method over the comparisons. The
/// baseline stays unless some finalist surely beats it; then the tie set is all that no other surely
/// beats, and the pick its lowest mean, or, when it lies within the indifference, the first in a fixed
/// order: deterministic first, fewer registers, then the configuration's text.
/// Fewer than two common processes decide nothing: the baseline stays.
/// Source: reference: Holm, "A simple sequentially rejective multiple test procedure", 1979.
Selection select(
    const std::vector<Finalist>& finalists, std::size_t baseline, const SelectorOptions& options
);

/// Whether `peer` is surely faster than `ours`, both measured in the same processes, at level alpha.
bool surely_faster(
    const std::vector<SampleBlock>& peer, const std::vector<SampleBlock>& ours, double alpha
);

/// Median over processes of the per-process medians, with its t interval in the logarithm at
/// 1 - alpha. One process gives no interval: low = high = median. Nothing without samples.
std::optional<TimeSummary> summarize(const std::vector<SampleBlock>& blocks, double alpha);

}  // namespace whet
