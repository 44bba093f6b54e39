#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "evaluation/evaluation.hpp"
#include "stats/t_interval.hpp"

namespace whet {

/// Mean log of the block medians in each process. Samples that are no time are left out.
std::map<std::int64_t, double> log_times(const std::vector<SampleBlock>& blocks);

/// Candidates that ran interleaved in the same processes, compared in pairs: one number a candidate
/// a process, its mean log time. Only processes in which all took part count.
class Pairs {
 public:
  /// [candidate][block]. `process_sd`: a pair has at least this noise (SelectorOptions).
  Pairs(const std::vector<std::vector<SampleBlock>>& blocks, double process_sd);

  std::size_t num_candidates() const { return rows_.size(); }
  std::size_t num_processes() const { return rows_.front().size(); }
  /// [candidate][process]
  const std::vector<std::vector<double>>& rows() const { return rows_; }

  /// One-sided p value that i is faster than j; 1 from fewer than two processes.
  double p_faster(std::size_t i, std::size_t j) const;
  /// log(i / j) exceeds it with probability alpha; infinite from fewer than two processes.
  double upper_bound(std::size_t i, std::size_t j, double alpha) const;

 private:
  MeanEstimate difference(std::size_t i, std::size_t j) const;

  std::vector<std::vector<double>> rows_;
  double process_sd_ = 0.0;
};

}  // namespace whet
