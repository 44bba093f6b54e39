// A kernel that does one thing over and over, to be timed. A probe defines
//   u32 repeat(const StepArguments& args, u32 repetitions)
// before this file, whose result keeps its work from being left out. Behind the helpers of emitted
// kernels and constexpr kBlocks, kThreads, kBufferBytes (a power of two) and kOverlaps.

extern "C" __global__ void __launch_bounds__(kThreads, 1)
whet_step(const __grid_constant__ StepArguments args) {
  if constexpr (kOverlaps) wait_for_previous_launch();
  const u32 result = repeat(args, args.ring_length);
  static_cast<u32*>(args.tensors[1])[block_index() * kThreads + thread_index()] = result;
}
