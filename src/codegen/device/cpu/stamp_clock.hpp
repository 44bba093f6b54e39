// The clocks of a profile build on the CPU target: one clock, in ns, for all threads.

struct ClockReading {
  long seconds;
  long nanoseconds;
};
extern "C" int clock_gettime(int clock, ClockReading* reading);
extern "C" int sched_getcpu();

WHET_DEVICE u64 clock_ticks() {
  constexpr int kMonotonic = 1;
  ClockReading now;
  clock_gettime(kMonotonic, &now);
  return static_cast<u64>(now.seconds) * 1000000000u + static_cast<u64>(now.nanoseconds);
}
WHET_DEVICE u64 wall_ns() { return clock_ticks(); }
WHET_DEVICE u32 processor_index() { return static_cast<u32>(sched_getcpu()); }
