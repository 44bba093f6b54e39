// The clocks of a profile build on a GPU. The wall clock is common to all SMs, but how finely it ticks
// is the GPU's own; cycles are fine, but each SM counts from a start of its own. Stamps are cycles,
// and one reading of both clocks a block ties them together: see harness/stamped_launches.hpp.

WHET_DEVICE u64 clock_ticks() {
  u64 ticks;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(ticks)::"memory");
  return ticks;
}
WHET_DEVICE u64 wall_ns() {
  u64 time_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_ns)::"memory");
  return time_ns;
}
WHET_DEVICE u32 processor_index() {
  u32 sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}
