#include "tuner/selector.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/error.hpp"
#include "stats/mean.hpp"
#include "stats/quantile.hpp"
#include "stats/student_t.hpp"

namespace whet {
namespace {

/// Mean log of the block medians in each process.
std::map<std::int64_t, double> log_times(const std::vector<SampleBlock>& blocks) {
  std::map<std::int64_t, std::vector<double>> medians;
  for (const SampleBlock& block : blocks) {
    std::vector<double> times;
    for (const Sample& sample : block.samples) {
      if (sample.time_ns > 0.0 && std::isfinite(sample.time_ns)) {
        times.push_back(sample.time_ns);
      }
    }
    if (!times.empty()) {
      medians[block.process].push_back(std::log(median(times)));
    }
  }
  std::map<std::int64_t, double> result;
  for (const auto& [process, logs] : medians) {
    result[process] = mean(logs);
  }
  return result;
}

using Rows = std::vector<std::vector<double>>;  // [finalist][process]

/// Only the processes in which every finalist took part count: pairs need both sides.
Rows common_rows(const std::vector<Finalist>& finalists) {
  std::vector<std::map<std::int64_t, double>> all;
  for (const Finalist& finalist : finalists) {
    all.push_back(log_times(finalist.blocks));
  }
  Rows rows(finalists.size());
  for (const auto& [process, first] : all.front()) {
    const bool common = std::all_of(all.begin(), all.end(), [p = process](const auto& times) {
      return times.contains(p);
    });
    if (common) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        rows[i].push_back(all[i].at(process));
      }
    }
  }
  return rows;
}

/// One-sided p value that `a` is faster than `b`.
double p_faster(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences.push_back(a[i] - b[i]);
  }
  if (differences.size() < 2) {
    return 1.0;
  }
  const double average = mean(differences);
  const double deviation = standard_deviation(differences);
  const auto n = static_cast<double>(differences.size());
  if (deviation == 0.0) {
    return average < 0.0 ? 0.0 : 1.0;
  }
  return student_t_cdf(average / (deviation / std::sqrt(n)), n - 1.0);
}

/// Which hypotheses Holm's method rejects at level alpha.
std::vector<bool> holm(const std::vector<double>& p_values, double alpha) {
  std::vector<std::size_t> order(p_values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
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

/// Finalists that no other surely beats.
std::vector<std::size_t> undefeated(const Rows& rows, double alpha) {
  std::vector<std::size_t> result;
  const double share = alpha / static_cast<double>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> p_values;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (j != i) {
        p_values.push_back(p_faster(rows[j], rows[i]));
      }
    }
    const std::vector<bool> beaten = holm(p_values, share);
    if (std::none_of(beaten.begin(), beaten.end(), [](bool b) { return b; })) {
      result.push_back(i);
    }
  }
  return result;
}

}  // namespace

Selection select(
    const std::vector<Finalist>& finalists, std::size_t baseline, const SelectorOptions& options
) {
  WHET_CHECK(baseline < finalists.size(), "baseline {} of {}", baseline, finalists.size());
  const Rows rows = common_rows(finalists);
  Selection selection{
      .pick = baseline,
      .leaves_baseline = false,
      .tie_set = {},
      .mean_log_ratio = {},
      .num_processes = static_cast<int>(rows.front().size())};
  if (rows.front().empty()) {
    selection.tie_set = {baseline};
    selection.mean_log_ratio.assign(finalists.size(), 0.0);
    return selection;
  }
  for (const std::vector<double>& row : rows) {
    selection.mean_log_ratio.push_back(mean(row) - mean(rows[baseline]));
  }
  std::vector<double> p_values;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i != baseline) {
      p_values.push_back(p_faster(rows[i], rows[baseline]));
    }
  }
  // Half of alpha for leaving the baseline, half for the choice behind it.
  const std::vector<bool> better = holm(p_values, options.alpha / 2.0);
  selection.tie_set = undefeated(rows, options.alpha / 2.0);
  selection.leaves_baseline = std::any_of(better.begin(), better.end(), [](bool b) { return b; });
  if (!selection.leaves_baseline) {
    if (std::find(selection.tie_set.begin(), selection.tie_set.end(), baseline) ==
        selection.tie_set.end()) {
      selection.tie_set.push_back(baseline);
    }
    return selection;
  }
  const auto& means = selection.mean_log_ratio;
  const auto by_mean = [&](std::size_t a, std::size_t b) { return means[a] < means[b]; };
  const auto [fastest, slowest] =
      std::minmax_element(selection.tie_set.begin(), selection.tie_set.end(), by_mean);
  selection.pick = *fastest;
  if (means[*slowest] - means[*fastest] <= options.indifference) {
    selection.pick = *std::min_element(
        selection.tie_set.begin(), selection.tie_set.end(), [&](std::size_t a, std::size_t b) {
          const auto rank = [&](std::size_t i) {
            return std::tuple(
                !finalists[i].deterministic, finalists[i].resources.registers,
                to_text(finalists[i].configuration)
            );
          };
          return rank(a) < rank(b);
        }
    );
  }
  return selection;
}

bool surely_faster(
    const std::vector<SampleBlock>& peer, const std::vector<SampleBlock>& ours, double alpha
) {
  const Rows rows = common_rows({Finalist{{}, false, {}, peer}, Finalist{{}, false, {}, ours}});
  return p_faster(rows[0], rows[1]) <= alpha;
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
  double margin = 0.0;
  if (logs.size() >= 2) {
    const auto n = static_cast<double>(logs.size());
    margin = student_t_quantile(1.0 - alpha / 2.0, n - 1.0) * standard_deviation(logs) /
             std::sqrt(n);
  }
  const double center = mean(logs);
  return TimeSummary{
      .median = std::exp(middle),
      .low = std::exp(std::min(middle, center - margin)),
      .high = std::exp(std::max(middle, center + margin))};
}

}  // namespace whet
