// The barrier of the CPU target's threads. Follows types.hpp in emitted text, and includes nothing.

extern "C" long syscall(long number, ...);

struct FutexTimeout {
  long seconds;
  long nanoseconds;
};

#if defined(__x86_64__)
constexpr long kFutexCall = 202;
WHET_DEVICE void spin_pause() { __builtin_ia32_pause(); }
#else
constexpr long kFutexCall = 98;  // the generic table: aarch64, riscv64
WHET_DEVICE void spin_pause() { asm volatile("" ::: "memory"); }
#endif

/// Waits for all threads; what they wrote before is visible after. Returns false when the others do
/// not come within the limit or another thread gave up: the kernel then ends. Words of `control` as
/// in cuda.cuh: [0] the barrier, whose bit 31 flips with the last arrival, [1] the status; [2]
/// counts sleepers. Spins first, then sleeps, so that waiting threads leave the cores to others.
static bool grid_barrier(u32* control, u32 num_blocks, u32 block, u32 place, u32 spin_limit) {
  constexpr u32 kFlip = 0x80000000u;
  constexpr u32 kSpins = 2000u;  // a few microseconds: longer than a step of the small workloads
  // A sleep of a millisecond lasts some four thousand polls of a GPU, which limits are meant for;
  // it counts as fewer, since other programs may hold the cores. The usual limit is then 8 seconds.
  constexpr u32 kPollsOfASleep = 1024u;
  const u32 arrival = block == 0u ? kFlip - (num_blocks - 1u) : 1u;
  const u32 before = __atomic_fetch_add(control, arrival, __ATOMIC_ACQ_REL);
  if (((before + arrival) ^ before) & kFlip) {
    if (__atomic_load_n(control + 2, __ATOMIC_SEQ_CST) != 0u) {
      syscall(kFutexCall, control, 1 | 128, 0x7fffffff, 0L, 0L, 0);  // FUTEX_WAKE, private
    }
    return true;
  }
  for (u32 polls = 0u;; ++polls) {
    const u32 now = __atomic_load_n(control, __ATOMIC_ACQUIRE);
    if ((now ^ before) & kFlip) return true;
    if (polls > spin_limit) {
      u32 none = 0u;
      __atomic_compare_exchange_n(
          control + 1, &none, place + 1u, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED
      );
      return false;
    }
    if (polls < kSpins) {
      spin_pause();
      continue;
    }
    if (__atomic_load_n(control + 1, __ATOMIC_RELAXED) != 0u) return false;
    const FutexTimeout timeout{0, 1000000};
    __atomic_fetch_add(control + 2, 1u, __ATOMIC_SEQ_CST);
    syscall(kFutexCall, control, 0 | 128, now, &timeout, 0L, 0);  // FUTEX_WAIT, private
    __atomic_fetch_sub(control + 2, 1u, __ATOMIC_SEQ_CST);
    polls = polls < ~0u - kPollsOfASleep ? polls + kPollsOfASleep : ~0u - 1u;
  }
}
