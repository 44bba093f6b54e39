// The probes of the CPU target, where a block is a thread: repeat_<name>(args, repetitions, block).
// Behind types.hpp, threads.hpp, vectors.hpp, arguments.cuh, and constexpr kBlocks and
// kBufferBytes.

/// Bytes that fit the nearest cache.
constexpr u32 kNearBytes = 16384;
/// Sums and vectors under way at once: more than the latency of an instruction takes to fill.
constexpr int kChains = 10;

static u32 repeat_node(const StepArguments& args, u32, int block) {
  return static_cast<const u32*>(args.tensors[0])[block];
}

static u32 repeat_grid_barrier(const StepArguments& args, u32 repetitions, int block) {
  u32* const control = static_cast<u32*>(args.workspace);
  for (u32 i = 0; i < repetitions; ++i) {
    if (!grid_barrier(control, kBlocks, static_cast<u32>(block), i, args.spin_limit)) return i;
  }
  return repetitions;
}

/// Each load gives the place of the next.
static u32 repeat_l2_latency(const StepArguments& args, u32 repetitions, int) {
  const u32* const words = static_cast<const u32*>(args.tensors[0]);
  u32 place = 0;
  for (u32 i = 0; i < repetitions; ++i) place = words[place];
  return place;
}

/// The words of the chain stay below kNearBytes when they are taken modulo that.
static u32 repeat_shared_latency(const StepArguments& args, u32 repetitions, int) {
  const u32* const words = static_cast<const u32*>(args.tensors[0]);
  u32 place = 0;
  for (u32 i = 0; i < repetitions; ++i) place = words[place] % (kNearBytes / 4);
  return place;
}

/// A repetition loads the first `bytes` of the buffer.
WHET_DEVICE u32 load_over(const StepArguments& args, u32 repetitions, u32 bytes) {
  const float* const from = static_cast<const float*>(args.tensors[0]);
  vec sums[4] = {};
  for (u32 i = 0; i < repetitions; ++i) {
    asm volatile("" ::: "memory");  // the words may have changed: they are loaded again
    for (u32 at = 0; at < bytes / 4; at += 4 * kLanes) {
      for (int s = 0; s < 4; ++s) sums[s] += load_vec(from + at + s * kLanes);
    }
  }
  return bits_of(sums[0][0] + sums[1][0] + sums[2][0] + sums[3][0]);
}
static u32 repeat_l2_rate(const StepArguments& args, u32 repetitions, int) {
  return load_over(args, repetitions, kBufferBytes);
}
static u32 repeat_shared_rate(const StepArguments& args, u32 repetitions, int) {
  return load_over(args, repetitions, kNearBytes);
}

/// A repetition is kChains fma of vectors.
static u32 repeat_fma(const StepArguments& args, u32 repetitions, int) {
  const vec factor = vec{} + to_f32(bf16{static_cast<u16>(args.first_batch)});
  vec sums[kChains] = {};
  for (u32 i = 0; i < repetitions; ++i) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) sums[c] = fused(sums[c], factor, factor);
  }
  float sum = 0.0f;
  for (int c = 0; c < kChains; ++c) sum += sums[c][0];
  return bits_of(sum);
}

/// A repetition is 64 additions, each of which waits for the one before: a clock each.
static u32 repeat_clock(const StepArguments&, u32 repetitions, int) {
  u64 sum = 0;
  for (u32 i = 0; i < repetitions; ++i) {
#pragma GCC unroll 64
    for (int a = 0; a < 64; ++a) {
      sum += i;
      asm volatile("" : "+r"(sum));
    }
  }
  return static_cast<u32>(sum);
}
