#pragma once

#include <vector>

#include "tuner/selector.hpp"

namespace whet {

/// How timings of one candidate scatter on a device: standard deviations of the logarithm of time.
struct NoiseFloor {
  double sample_sd = 0.0;  ///< of a timing in its block, by the median absolute deviation
  double block_sd = 0.0;   ///< of a candidate's blocks in one process, by their medians
  /// Of a candidate in a process, its blocks averaged, against its like in that process: what
  /// further samples of that process do not remove.
  double process_sd = 0.0;
  double drift = 0.0;  ///< by how much time grows from the first to the last block of a process
  int num_processes = 0;
};

/// Of at least two byte-identical candidates with two blocks or more in each of the same processes,
/// of which there are at least two.
NoiseFloor noise_floor(const std::vector<Finalist>& identical);

/// The difference, as a fraction, that so many processes show half of the time between two
/// candidates when each comparison may err with probability `alpha`.
double detectable_difference(double process_sd, int num_processes, double alpha);

}  // namespace whet
