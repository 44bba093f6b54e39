#include "stats/rank_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.hpp"

namespace whet {
namespace {

/// Counted from 0.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    for (std::size_t i = begin; i < end; ++i) {
      result[order[i]] = static_cast<double>(begin + end - 1) / 2;
    }
    begin = end;
  }
  return result;
}

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  WHET_CHECK(a.size() == b.size(), "{} values against {}", a.size(), b.size());
  const std::vector<double> ranks_a = ranks(a);
  const std::vector<double> ranks_b = ranks(b);
  const double mean = (static_cast<double>(a.size()) - 1) / 2;
  double covariance = 0.0;
  double variance_a = 0.0;
  double variance_b = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    covariance += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    variance_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    variance_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  const double scale = std::sqrt(variance_a * variance_b);
  return scale == 0.0 ? 0.0 : covariance / scale;
}

}  // namespace whet
