#include "report/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "report/format.hpp"
#include "stats/quantile.hpp"
#include "stats/rank_correlation.hpp"

namespace whet {
namespace {

constexpr std::int64_t kEvaluations[] = {10, 30, 100};

/// The mean, over all sets of `count` of the ascending `times`, of the set's least: the i-th is it
/// if the others are among those behind it.
double expected_least(const std::vector<double>& times, std::int64_t count) {
  const auto n = static_cast<double>(times.size());
  const auto k = static_cast<double>(count);
  double probability = k / n;  // of the first
  double sum = 0.0;
  for (std::size_t i = 0; i + static_cast<std::size_t>(count) <= times.size(); ++i) {
    sum += probability * times[i];
    const auto behind = n - static_cast<double>(i) - 1;
    probability *= behind == 0 ? 0.0 : (behind - k + 1) / behind;
  }
  return sum;
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

}  // namespace

Ranking rank(std::span<const RankedTime> times) {
  WHET_CHECK(!times.empty(), "nothing to rank");
  std::vector<RankedTime> order(times.begin(), times.end());
  std::ranges::stable_sort(order, {}, &RankedTime::predicted_ns);
  std::vector<double> measured;
  std::vector<double> predicted;
  std::vector<double> log_errors;
  for (const RankedTime& time : order) {
    measured.push_back(time.measured_ns);
    predicted.push_back(time.predicted_ns);
    log_errors.push_back(std::log(time.predicted_ns / time.measured_ns));
  }
  Ranking ranking{
      .num_evaluations = static_cast<std::int64_t>(times.size()),
      .correlation = rank_correlation(predicted, measured),
      .log_error = median(log_errors),
      .regrets = {}};
  std::vector<double> ascending = measured;
  std::ranges::sort(ascending);
  for (const std::int64_t count : kEvaluations) {
    if (count < ranking.num_evaluations) {
      const double found = *std::min_element(measured.begin(), measured.begin() + count);
      ranking.regrets.push_back(
          {.num_evaluations = count,
           .predicted_order = found / ascending.front() - 1,
           .random_order = expected_least(ascending, count) / ascending.front() - 1}
      );
    }
  }
  return ranking;
}

std::string ranking_table(const std::vector<SessionRanking>& rankings) {
  std::string text = "| workload | device | candidates | rank correlation | predicted / measured |";
  for (const std::int64_t count : kEvaluations) {
    text += fmt::format(" regret at {}: predicted order (random) |", count);
  }
  text += "\n|---|---|---|---|---|---|---|---|\n";
  for (const SessionRanking& session : rankings) {
    const Ranking& ranking = session.ranking;
    text +=
        fmt::format("| {} | {} |", markdown_cell(session.workload), markdown_cell(session.device));
    if (ranking.num_evaluations == 0) {
      text += fmt::format(" – | {} | – | – | – | – |\n", markdown_cell(session.problem));
      continue;
    }
    text += fmt::format(
        " {} | {:.3f} | {:.2f} |",
        ranking.num_evaluations,
        ranking.correlation,
        std::exp(ranking.log_error)
    );
    for (const std::int64_t count : kEvaluations) {
      const auto regret = std::ranges::find(ranking.regrets, count, &Regret::num_evaluations);
      text +=
          regret == ranking.regrets.end()
              ? " – |"
              : fmt::format(
                    " {} ({}) |", percent(regret->predicted_order), percent(regret->random_order)
                );
    }
    text += "\n";
  }
  return text;
}

}  // namespace whet
