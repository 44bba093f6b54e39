// The clock of a profile build in the emulation, which has no time: it counts its readings, so
// stamps show the order in which fibers came.

static u64 num_readings = 0;
WHET_TWIN u64 clock_ticks() { return ++num_readings; }
WHET_TWIN u64 wall_ns() { return clock_ticks(); }
WHET_TWIN u32 processor_index() { return static_cast<u32>(block_index()); }
