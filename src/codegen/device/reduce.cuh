// Sums over a block's threads, in a fixed order.

/// kOutputs is 1, with the threads along one sum, or 32, with a lane an output and the warps along
/// its sum, or kThreads, with a thread an output, whose value is the sum already. The result is in threads [0, kOutputs). `shared` holds kThreads / 32 * kOutputs floats,
/// and must not be reused before the next block barrier.
template <int kOutputs>
WHET_DEVICE float block_sum(float* shared, float value) {
  if constexpr (kOutputs == kThreads) return value;
  if constexpr (kOutputs == 1) {
    value = warp_sum(value);
    if (lane_index() == 0) shared[warp_index()] = value;
  } else {
    shared[warp_index() * kOutputs + lane_index()] = value;
  }
  block_barrier();
  float sum = 0.0f;
  if (thread_index() < kOutputs) {
    for (int warp = 0; warp < kThreads / 32; ++warp) sum += shared[warp * kOutputs + thread_index()];
  }
  return sum;
}
