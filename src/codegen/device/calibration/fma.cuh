// Plain fma. A repetition is kChains * kSteps of them a thread.
constexpr int kChains = 8;
constexpr int kSteps = 8;

WHET_DEVICE u32 repeat(const StepArguments& args, u32 repetitions) {
  const float factor = to_f32(bf16{static_cast<u16>(args.first_batch)});
  float sums[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) sums[c] = static_cast<float>(c + thread_index());
#pragma unroll 1
  for (u32 i = 0; i < repetitions; ++i) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) sums[c] = fma(sums[c], factor, 1.0f);
    }
  }
  float sum = 0.0f;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum += sums[c];
  return bits_of(sum);
}
