// Loads of shared memory, each of which gives the place of the next.
WHET_DEVICE u32 repeat(const StepArguments&, u32 repetitions) {
  u32* const words = reinterpret_cast<u32*>(shared_memory());
  words[thread_index()] = static_cast<u32>((thread_index() + 1) % kThreads);
  block_barrier();
  u32 place = 0;
#pragma unroll 1
  for (u32 i = 0; i < repetitions; ++i) place = words[place];
  return place;
}
