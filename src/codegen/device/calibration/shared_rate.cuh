// Loads of 16 bytes from shared memory, neighbours side by side. A repetition loads kLoads * 16
// bytes a thread.
constexpr int kLoads = 8;

WHET_DEVICE u32 repeat(const StepArguments&, u32 repetitions) {
  char* const shared = shared_memory();
#pragma unroll
  for (int l = 0; l < kLoads; ++l) {
    store_16(shared + (l * kThreads + thread_index()) * 16, u32x4{1u, 2u, 3u, 4u});
  }
  block_barrier();
  u32 result = 0;
#pragma unroll 1
  for (u32 i = 0; i < repetitions; ++i) {
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      // Another place in each repetition: else one load would do for all.
      const u32 slot = (static_cast<u32>(l * kThreads + thread_index()) + i * kThreads) %
                       static_cast<u32>(kLoads * kThreads);
      const u32x4 words = load_16(shared + slot * 16);
      result += words.x ^ words.y ^ words.z ^ words.w;
    }
  }
  return result;
}
