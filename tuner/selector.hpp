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

/// What of alpha falls to each claim of a tuning. The first two are equal, so that the baseline is
/// in the tie set exactly when nothing surely beats it.
constexpr double kTieShare = 0.4;
constexpr double kBaselineShare = 0.4;
constexpr double kPeerShare = 0.2;

struct SelectorOptions {
  double alpha = 0.05;         ///< P(a claim is made and is false) is at most this
  double indifference = 0.01;  ///< differences below this fraction do not matter
  /// Noise of this device as an A/A test found it (NoiseFloor::process_sd): no comparison is taken
  /// for surer than it allows, however well few processes happen to agree. 0: not known.
  double process_sd = 0.0;

  bool operator==(const SelectorOptions&) const = default;
};

/// What the selector makes of the finalists.
struct Selection {
  std::size_t pick = 0;                    ///< index of the finalist to use
  bool leaves_baseline = false;            ///< the pick surely beats the baseline
  std::vector<std::size_t> beat_baseline;  ///< those that surely beat it
  /// Those that no other surely beats: holds the fastest finalist unless an error of the stated
  /// rate was made.
  std::vector<std::size_t> tie_set;
  std::vector<double> mean_log_ratio;  ///< of each finalist to the baseline
  /// The pick is slower than the fastest finalist by at most this fraction; nothing when there are
  /// too few processes to say.
  std::optional<double> within;
  int num_processes = 0;  ///< in which all took part
};

/// Chooses among finalists that ran interleaved in the same processes. The unit of replication is
/// the process: one number a candidate a process, the mean log of its block medians. Comparisons
/// are one-sided paired t tests of these; a share of alpha goes to the baseline's, by Holm's
/// method, and one to the tie set's, by Bonferroni's over each finalist's rivals. The baseline
/// stays unless some finalist surely beats it. Then the pick is one that does so itself and, if
/// there is any, belongs to the tie set: the first in a fixed order (deterministic first, fewer
/// spills, registers and shared bytes, then the configuration's text) that is surely within the
/// indifference of the fastest, else the one with the lowest mean. Fewer than two common processes
/// decide nothing: the baseline stays. Source: Holm, "A simple sequentially rejective multiple test
/// procedure", 1979.
Selection select(
    const std::vector<Finalist>& finalists, std::size_t baseline, const SelectorOptions& options
);

/// Whether `peer` is surely faster than `ours`, both measured in the same processes. A share of the
/// tuning's `alpha` goes to this comparison.
bool surely_faster(
    const std::vector<SampleBlock>& peer, const std::vector<SampleBlock>& ours, double alpha
);

/// Median over processes of the per-process medians, with its t interval in the logarithm at
/// 1 - alpha. One process gives no interval: low = high = median. Nothing without samples.
std::optional<TimeSummary> summarize(const std::vector<SampleBlock>& blocks, double alpha);

}  // namespace whet
