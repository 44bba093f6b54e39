// Asynchronous copies past L1, two batches of which are under way. A repetition copies
// kCopies * 16 bytes a thread.
constexpr int kCopies = 8;

WHET_DEVICE u32 repeat(const StepArguments& args, u32 repetitions) {
  constexpr u32 kBatchBytes = kCopies * kThreads * 16;
  static_assert(kBufferBytes % kBatchBytes == 0, "batches lie inside the buffer");
  const char* const buffer = static_cast<const char*>(args.tensors[0]);
  char* const shared = shared_memory();
#pragma unroll 1
  for (u32 i = 0; i < repetitions; ++i) {
    // Neighbouring blocks read neighbouring batches, so that all of the buffer is in use.
    const u32 batch = (i * kBlocks + static_cast<u32>(block_index())) % (kBufferBytes / kBatchBytes);
#pragma unroll
    for (int c = 0; c < kCopies; ++c) {
      const int place = (c * kThreads + thread_index()) * 16;
      cp_async_16(shared + i % 2 * kBatchBytes + place, buffer + batch * kBatchBytes + place, true);
    }
    cp_async_commit();
    cp_async_wait<1>();
  }
  cp_async_wait<0>();
  return reinterpret_cast<const u32*>(shared)[thread_index() * 4];
}
