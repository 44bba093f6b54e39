// Loads of global memory, each of which gives the place of the next. Volatile ones pass L1 by.
WHET_DEVICE u32 repeat(const StepArguments& args, u32 repetitions) {
  const volatile u32* const words = static_cast<const u32*>(args.tensors[0]);
  u32 place = 0;
#pragma unroll 1
  for (u32 i = 0; i < repetitions; ++i) place = words[place];
  return place;
}
