// Barriers of the grid, with nothing to drain.
WHET_DEVICE u32 repeat(const StepArguments& args, u32 repetitions) {
  u32* const control = static_cast<u32*>(args.workspace);
#pragma unroll 1
  for (u32 i = 0; i < repetitions; ++i) {
    if (!grid_barrier(control, kBlocks, i, args.spin_limit)) return i;
  }
  return repetitions;
}
