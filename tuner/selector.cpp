#include "tuner/selector.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "base/error.hpp"
#include "stats/mean.hpp"
#include "stats/quantile.hpp"
#include "stats/t_interval.hpp"
#include "tuner/pairs.hpp"

namespace whet {
namespace {

/// Which hypotheses Holm's method rejects at level alpha.
std::vector<bool> holm(const std::vector<double>& p_values, double alpha) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return p_values[a] < p_values[b];
  });
  std::vector<bool> rejected(p_values.size(), false);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    if (p_values[order[rank]] > alpha / static_cast<double>(order.size() - rank)) {
      break;
    }
    rejected[order[rank]] = true;
  }
  return rejected;
}

std::vector<std::size_t> beating(const Pairs& pairs, std::size_t baseline, double alpha) {
  std::vector<std::size_t> others;
  std::vector<double> p_values;
  for (std::size_t i = 0; i < pairs.num_candidates(); ++i) {
    if (i != baseline) {
      others.push_back(i);
      p_values.push_back(pairs.p_faster(i, baseline));
    }
  }
  const std::vector<bool> rejected = holm(p_values, alpha);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (rejected[i]) {
      result.push_back(others[i]);
    }
  }
  return result;
}

/// What of alpha falls to each rival of a finalist. The fastest is wrongly beaten, or its distance
/// wrongly bounded, in one of so many comparisons.
double rival_alpha(const Pairs& pairs, double alpha) {
  return alpha / std::max(1.0, static_cast<double>(pairs.num_candidates()) - 1.0);
}

/// Finalists that no other surely beats.
std::vector<std::size_t> undefeated(const Pairs& pairs, double alpha) {
  const double share = rival_alpha(pairs, alpha);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < pairs.num_candidates(); ++i) {
    bool is_beaten = false;
    for (std::size_t rival = 0; rival < pairs.num_candidates(); ++rival) {
      is_beaten = is_beaten || (rival != i && pairs.p_faster(rival, i) <= share);
    }
    if (!is_beaten) {
      result.push_back(i);
    }
  }
  return result;
}

/// By how much, in the logarithm, finalist `i` may be slower than the fastest, which is in
/// `tie_set`. The bounds hold for all i at once, so that i may be chosen after looking at them.
double log_within(
    const Pairs& pairs, std::size_t i, const std::vector<std::size_t>& tie_set, double alpha
) {
  double bound = 0.0;
  for (const std::size_t j : tie_set) {
    if (j != i) {
      bound = std::max(bound, pairs.upper_bound(i, j, rival_alpha(pairs, alpha)));
    }
  }
  return bound;
}

/// Those of the tie set that surely beat the baseline, or, if there is none, all that do.
std::vector<std::size_t> eligible(const Selection& selection) {
  std::vector<std::size_t> both;
  std::set_intersection(
      selection.tie_set.begin(),
      selection.tie_set.end(),
      selection.beat_baseline.begin(),
      selection.beat_baseline.end(),
      std::back_inserter(both)
  );
  return both.empty() ? selection.beat_baseline : both;
}

/// Whether `a` comes before `b` in the fixed order.
bool comes_before(const Finalist& a, const Finalist& b) {
  const auto rank = [](const Finalist& finalist) {
    const Resources& resources = finalist.resources;
    return std::tuple(
        !finalist.deterministic,
        resources.spill_store_bytes + resources.spill_load_bytes,
        resources.registers,
        resources.static_shared_bytes + resources.dynamic_shared_bytes,
        to_text(finalist.configuration)
    );
  };
  return rank(a) < rank(b);
}

}  // namespace

Selection select(
    const std::vector<Finalist>& finalists, std::size_t baseline, const SelectorOptions& options
) {
  WHET_CHECK(baseline < finalists.size(), "baseline {} of {}", baseline, finalists.size());
  std::vector<std::vector<SampleBlock>> blocks;
  for (const Finalist& finalist : finalists) {
    blocks.push_back(finalist.blocks);
  }
  const Pairs pairs(blocks, options.process_sd);
  Selection selection;
  selection.pick = baseline;
  selection.num_processes = static_cast<int>(pairs.num_processes());
  for (const std::vector<double>& row : pairs.rows()) {
    selection.mean_log_ratio.push_back(
        row.empty() ? 0.0 : mean(row) - mean(pairs.rows()[baseline])
    );
  }
  selection.tie_set = undefeated(pairs, kTieShare * options.alpha);
  selection.beat_baseline = beating(pairs, baseline, kBaselineShare * options.alpha);
  selection.leaves_baseline = !selection.beat_baseline.empty();
  const auto within = [&](std::size_t i) {
    return log_within(pairs, i, selection.tie_set, kTieShare * options.alpha);
  };
  if (selection.leaves_baseline) {
    std::vector<std::size_t> candidates = eligible(selection);
    std::sort(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
      return comes_before(finalists[a], finalists[b]);
    });
    const auto settled = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t i) {
      return within(i) <= std::log1p(options.indifference);
    });
    const auto fastest =
        std::min_element(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
          return selection.mean_log_ratio[a] < selection.mean_log_ratio[b];
        });
    selection.pick = settled == candidates.end() ? *fastest : *settled;
  }
  if (const double bound = within(selection.pick); std::isfinite(bound)) {
    selection.within = std::expm1(bound);
  }
  return selection;
}

bool surely_faster(
    const std::vector<SampleBlock>& peer, const std::vector<SampleBlock>& ours, double alpha
) {
  const Pairs pairs({peer, ours}, 0.0);
  return pairs.p_faster(0, 1) <= kPeerShare * alpha;
}

std::optional<TimeSummary> summarize(const std::vector<SampleBlock>& blocks, double alpha) {
  std::vector<double> logs;
  for (const auto& [process, log_time] : log_times(blocks)) {
    logs.push_back(log_time);
  }
  if (logs.empty()) {
    return std::nullopt;
  }
  const double middle = median(logs);
  Interval interval{.low = middle, .high = middle};
  if (logs.size() >= 2) {
    interval = t_interval(estimate_mean(logs), 1.0 - alpha);
  }
  return TimeSummary{
      .median = std::exp(middle),
      .low = std::exp(std::min(middle, interval.low)),
      .high = std::exp(std::max(middle, interval.high))};
}

}  // namespace whet
