#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace whet {

/// A candidate that was measured, and what the model says of it.
struct RankedTime {
  double measured_ns = 0.0;
  double predicted_ns = 0.0;
};

/// How much slower than the best of all the best of the first `num_evaluations` is, as a fraction.
struct Regret {
  std::int64_t num_evaluations = 0;
  double predicted_order = 0.0;
  double random_order = 0.0;  ///< expected over all orders

  bool operator==(const Regret&) const = default;
};

/// How well the model orders the candidates of a session.
struct Ranking {
  std::int64_t num_evaluations = 0;
  double correlation = 0.0;  ///< Spearman's, of predicted against measured
  double log_error = 0.0;    ///< median of ln(predicted / measured)
  std::vector<Regret> regrets;

  bool operator==(const Ranking&) const = default;
};

/// Below so many candidates an order says nothing.
constexpr std::int64_t kMinRanked = 20;

/// Regrets are after 10, 30 and 100 evaluations, as far as there are more. `times` are not empty.
Ranking rank(std::span<const RankedTime> times);

/// A session's ranking, or why it has none.
struct SessionRanking {
  std::string workload;
  std::string device;
  Ranking ranking;      ///< no evaluations: there is none
  std::string problem;  ///< why
};
/// A Markdown table with a row a session.
std::string ranking_table(const std::vector<SessionRanking>& rankings);

}  // namespace whet
