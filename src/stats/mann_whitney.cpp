#include "stats/mann_whitney.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/error.hpp"

namespace whet {
namespace {

struct RankSum {
  double first = 0.0;     ///< sum of the first set's ranks, counted from 1
  double tie_term = 0.0;  ///< sum of t^3 - t over groups of t equal values
};

RankSum rank(std::span<const double> first, std::span<const double> second) {
  struct Value {
    double value;
    bool is_first;
  };
  std::vector<Value> values;
  for (const double value : first) {
    values.push_back({value, true});
  }
  for (const double value : second) {
    values.push_back({value, false});
  }
  std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) {
    return a.value < b.value;
  });
  RankSum sum;
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t end = begin;
    std::size_t num_first = 0;
    while (end < values.size() && values[end].value == values[begin].value) {
      num_first += values[end++].is_first ? 1 : 0;
    }
    const auto count = static_cast<double>(end - begin);
    // Equal values share the mean of their ranks begin + 1 ... end.
    sum.first += static_cast<double>(num_first) * 0.5 * static_cast<double>(begin + 1 + end);
    sum.tie_term += count * count * count - count;
    begin = end;
  }
  return sum;
}

/// P(U <= u) for no ties: the coefficients of the Gaussian binomial count the orders with each U.
double exact_lower_tail(std::size_t num_first, std::size_t num_second, double u) {
  const std::size_t max_u = num_first * num_second;
  std::vector<double> num_orders(max_u + 1, 0.0);
  num_orders[0] = 1.0;
  for (std::size_t i = 1; i <= num_first; ++i) {
    for (std::size_t j = max_u; j + 1 > num_second + i; --j) {
      num_orders[j] -= num_orders[j - num_second - i];
    }
    for (std::size_t j = i; j <= max_u; ++j) {
      num_orders[j] += num_orders[j - i];
    }
  }
  double total = 0.0;
  double tail = 0.0;
  for (std::size_t j = 0; j <= max_u; ++j) {
    total += num_orders[j];
    tail += static_cast<double>(j) <= u ? num_orders[j] : 0.0;
  }
  return tail / total;
}

double normal_upper_tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

}  // namespace

MannWhitney mann_whitney(std::span<const double> first, std::span<const double> second) {
  WHET_CHECK(
      !first.empty() && !second.empty(),
      "a rank test of {} against {} samples",
      first.size(),
      second.size()
  );
  // Below nine the normal approximation is poor; above, the exact count gains nothing.
  constexpr std::size_t kMaxExact = 8;
  const auto n1 = static_cast<double>(first.size());
  const auto n2 = static_cast<double>(second.size());
  const RankSum ranks = rank(first, second);
  const double u = ranks.first - 0.5 * n1 * (n1 + 1.0);
  const double larger_u = std::max(u, n1 * n2 - u);
  if (ranks.tie_term == 0.0 && std::min(first.size(), second.size()) <= kMaxExact) {
    // U is distributed symmetrically, and the counts of small U stay exact.
    const double tail = exact_lower_tail(first.size(), second.size(), n1 * n2 - larger_u);
    return {.u = u, .p_value = std::min(2.0 * tail, 1.0)};
  }
  const double n = n1 + n2;
  const double variance = n1 * n2 / 12.0 * (n + 1.0 - ranks.tie_term / (n * (n - 1.0)));
  if (variance <= 0.0) {  // all values are equal
    return {.u = u, .p_value = 1.0};
  }
  const double z = (larger_u - 0.5 * n1 * n2 - 0.5) / std::sqrt(variance);
  return {.u = u, .p_value = std::min(2.0 * normal_upper_tail(z), 1.0)};
}

}  // namespace whet
