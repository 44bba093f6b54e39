// Products on tensor cores. A repetition is kChains products of 16 x 8 x 16 a warp.
constexpr int kChains = 8;

WHET_DEVICE u32 repeat(const StepArguments&, u32 repetitions) {
  const u32 lane = static_cast<u32>(lane_index());
  const u32 a[4] = {lane, lane + 1u, lane + 2u, lane + 3u};
  const u32 b[2] = {lane, lane + 1u};
  float sums[kChains][4] = {};
#pragma unroll 1
  for (u32 i = 0; i < repetitions; ++i) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) mma_m16n8k16(sums[c], a, b, bf16{});
  }
  float sum = 0.0f;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum += sums[c][0] + sums[c][1] + sums[c][2] + sums[c][3];
  return bits_of(sum);
}
