#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/philox.hpp"
#include "evaluation/evaluation.hpp"

namespace whet {

/// How timings of one device scatter, as standard deviations of the logarithm of time unless said.
struct NoiseSetting {
  const char* name = "";
  double process_sd = 0.0;     ///< a candidate in a process: what more samples never remove
  double block_sd = 0.0;       ///< shared by the neighbours of an interleaved block
  double sample_sd = 0.0;      ///< of one timing
  double correlation = 0.3;    ///< of a timing with the one before it
  double tail_share = 0.02;    ///< of timings that are late by an exponential time
  double tail_scale = 5.0;     ///< whose mean is so many sample_sd
  double drift_sd = 0.0;       ///< from the first to the last block of a process
  double step_share = 0.0;     ///< of processes in which the clock steps down once
  double step = 0.0;           ///< by this much
  double outlier_share = 0.0;  ///< of candidates in a process that are slow throughout
  double outlier = 0.0;        ///< by this much
  double unevenness = 0.0;     ///< sd of the logarithm of a candidate's own process_sd
  bool skewed = false;         ///< process shifts are exponential, not normal
};

/// A dedicated GPU, a shared server, a shared CPU; and the shared server with each thing that the
/// tests of the selector assume away. Source: the spreads of docs/method.md.
const std::vector<NoiseSetting>& noise_settings();

/// Timings of candidates whose true times are known. Same seed and stream, same timings.
class SimulatedTimings {
 public:
  /// `log_times`: the true logarithm of each candidate's time.
  SimulatedTimings(
      std::vector<double> log_times,
      const NoiseSetting& setting,
      std::uint64_t seed,
      std::uint64_t stream
  );

  std::size_t num_candidates() const { return log_times_.size(); }
  /// How many timings were taken so far.
  std::int64_t num_samples() const { return num_samples_; }

  /// Blocks of `candidates`, interleaved there and back `num_rounds` times in a fresh process.
  /// [candidate][block]
  std::vector<std::vector<SampleBlock>> run_process(
      const std::vector<std::size_t>& candidates, int num_rounds, int samples_a_block
  );

 private:
  double normal() { return random_.normal(next_++); }
  double uniform() { return random_.uniform(next_++); }
  double exponential();
  double process_shift(std::size_t candidate);
  std::vector<Sample> draw_block(double log_time, int num_samples);

  std::vector<double> log_times_;
  NoiseSetting setting_;
  Philox random_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
  std::vector<double> process_sds_;  ///< of each candidate
  std::int64_t num_processes_ = 0;
  std::int64_t num_samples_ = 0;
};

}  // namespace whet
