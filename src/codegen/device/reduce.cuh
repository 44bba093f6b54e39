// Sums over a team's threads, in a fixed order.

/// kOutputs is 1, with the threads along one sum, or 8 to 32, with so many lanes side by side and
/// the rest along their sums, or the team's size, with a thread an output, whose value is the sum
/// already. The result is in the team's threads [0, kOutputs). `shared` holds kOutputs floats a
/// warp, and must not be reused before the team's next barrier.
template <class Team, int kOutputs>
WHET_DEVICE float team_sum(float* shared, float value) {
  if constexpr (kOutputs == Team::kSize) return value;
  if constexpr (kOutputs == 1) value = warp_sum(value);
  if constexpr (kOutputs > 1) {
#pragma unroll
    for (int lane_mask = 16; lane_mask >= kOutputs; lane_mask /= 2) {
      value += shuffle_xor(value, lane_mask);
    }
  }
  if constexpr (kOutputs == 1 && Team::kSize == 32) return value;
  if constexpr (kOutputs == 1) {
    if (lane_index() == 0) shared[Team::warp()] = value;
  } else if (lane_index() < kOutputs) {
    shared[Team::warp() * kOutputs + lane_index()] = value;
  }
  Team::barrier();
  float sum = 0.0f;
  if (Team::thread() < kOutputs) {
#pragma unroll
    for (int warp = 0; warp < Team::kSize / 32; ++warp) {
      sum += shared[warp * kOutputs + Team::thread()];
    }
  }
  return sum;
}
