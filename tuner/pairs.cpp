#include "tuner/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/mean.hpp"
#include "stats/quantile.hpp"

namespace whet {

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

Pairs::Pairs(const std::vector<std::vector<SampleBlock>>& blocks, double process_sd)
    : rows_(blocks.size()), process_sd_(process_sd) {
  std::vector<std::map<std::int64_t, double>> all;
  for (const std::vector<SampleBlock>& own : blocks) {
    all.push_back(log_times(own));
  }
  for (const auto& [process, first] : all.front()) {
    const bool common =
        std::ranges::all_of(all, [p = process](const auto& times) { return times.contains(p); });
    for (std::size_t i = 0; common && i < all.size(); ++i) {
      rows_[i].push_back(all[i].at(process));
    }
  }
}

double Pairs::p_faster(std::size_t i, std::size_t j) const {
  return num_processes() < 2 ? 1.0 : t_test_less(difference(i, j), 0.0);
}

double Pairs::upper_bound(std::size_t i, std::size_t j, double alpha) const {
  return num_processes() < 2 ? std::numeric_limits<double>::infinity()
                             : t_upper_bound(difference(i, j), alpha);
}

MeanEstimate Pairs::difference(std::size_t i, std::size_t j) const {
  std::vector<double> differences;
  for (std::size_t p = 0; p < num_processes(); ++p) {
    differences.push_back(rows_[i][p] - rows_[j][p]);
  }
  MeanEstimate estimate = estimate_mean(differences);
  const double least = process_sd_ * std::sqrt(2.0 / static_cast<double>(num_processes()));
  estimate.standard_error = std::max(estimate.standard_error, least);
  return estimate;
}

}  // namespace whet
