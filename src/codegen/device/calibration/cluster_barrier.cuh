// Barriers of a cluster, with nothing to drain.
WHET_DEVICE u32 repeat(const StepArguments&, u32 repetitions) {
#pragma unroll 1
  for (u32 i = 0; i < repetitions; ++i) cluster_barrier();
  return repetitions;
}
