#include "tuner/noise_floor.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "stats/mean.hpp"
#include "stats/median_absolute_deviation.hpp"
#include "stats/quantile.hpp"
#include "stats/student_t.hpp"

namespace whet {
namespace {

constexpr double kNormalMad = 1.4826;  // standard deviation / median absolute deviation

double log_median(const SampleBlock& block) {
  std::vector<double> times;
  for (const Sample& sample : block.samples) {
    times.push_back(sample.time_ns);
  }
  return std::log(median(times));
}

double log_spread(const SampleBlock& block) {
  std::vector<double> logs;
  for (const Sample& sample : block.samples) {
    logs.push_back(std::log(sample.time_ns));
  }
  return kNormalMad * median_absolute_deviation(logs);
}

/// A block's log median at its position from 0, first, to 1, last.
struct Placed {
  double position = 0.0;
  double log_time = 0.0;
};

double slope(const std::vector<Placed>& blocks) {
  double mean_position = 0.0;
  double mean_log = 0.0;
  for (const Placed& block : blocks) {
    mean_position += block.position / static_cast<double>(blocks.size());
    mean_log += block.log_time / static_cast<double>(blocks.size());
  }
  double covariance = 0.0;
  double variance = 0.0;
  for (const Placed& block : blocks) {
    covariance += (block.position - mean_position) * (block.log_time - mean_log);
    variance += (block.position - mean_position) * (block.position - mean_position);
  }
  return variance > 0.0 ? covariance / variance : 0.0;
}

/// Root of the mean square of what is left of rows [candidate][process] without the means of both.
double interaction_sd(const std::vector<std::vector<double>>& rows) {
  const std::size_t num_columns = rows.front().size();
  std::vector<double> column_means(num_columns, 0.0);
  std::vector<double> row_means;
  for (const std::vector<double>& row : rows) {
    row_means.push_back(mean(row));
    for (std::size_t c = 0; c < num_columns; ++c) {
      column_means[c] += row[c] / static_cast<double>(rows.size());
    }
  }
  const double grand = mean(row_means);
  double squares = 0.0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < num_columns; ++c) {
      const double rest = rows[r][c] - row_means[r] - column_means[c] + grand;
      squares += rest * rest;
    }
  }
  return std::sqrt(squares / static_cast<double>((rows.size() - 1) * (num_columns - 1)));
}

}  // namespace

NoiseFloor noise_floor(const std::vector<Finalist>& identical) {
  WHET_CHECK(identical.size() >= 2, "{} candidates", identical.size());
  std::vector<double> sample_sds;
  std::vector<double> block_variances;
  std::vector<std::vector<double>> rows;
  std::map<std::int64_t, std::vector<Placed>> by_process;
  for (const Finalist& candidate : identical) {
    std::map<std::int64_t, std::vector<double>> logs;
    for (const SampleBlock& block : candidate.blocks) {
      sample_sds.push_back(log_spread(block));
      logs[block.process].push_back(log_median(block));
      by_process[block.process].push_back({static_cast<double>(block.block), log_median(block)});
    }
    std::vector<double>& row = rows.emplace_back();
    for (const auto& [process, medians] : logs) {
      row.push_back(mean(medians));
      const double sd = standard_deviation(medians);
      block_variances.push_back(sd * sd);
    }
  }
  std::vector<double> slopes;
  for (auto& [process, blocks] : by_process) {
    const double last = std::ranges::max_element(blocks, {}, &Placed::position)->position;
    for (Placed& block : blocks) {
      block.position /= std::max(1.0, last);
    }
    slopes.push_back(slope(blocks));
  }
  return {
      .sample_sd = median(sample_sds),
      .block_sd = std::sqrt(mean(block_variances)),
      .process_sd = interaction_sd(rows),
      .drift = mean(slopes),
      .num_processes = static_cast<int>(by_process.size())};
}

double detectable_difference(double process_sd, int num_processes, double alpha) {
  const double standard_error = process_sd * std::sqrt(2.0 / num_processes);
  return std::expm1(student_t_quantile(1.0 - alpha, num_processes - 1.0) * standard_error);
}

}  // namespace whet
