// The warps of a block that work on a task together. Tasks of a phase may run side by side on teams
// of one block; where a phase has one team, it is the whole block, or the largest power of two of
// its warps.

template <int kFirstWarp, int kWarps>
struct Team {
  static constexpr int kSize = kWarps * 32;  // threads
  static constexpr bool kIsBlock = kSize == kThreads;

  WHET_MEMBER static int thread() {
    return kFirstWarp == 0 ? thread_index() : thread_index() - kFirstWarp * 32;
  }
  WHET_MEMBER static int warp() { return thread() >> 5; }
  /// All threads of the team meet; what they wrote before is visible to the team after.
  WHET_MEMBER static void barrier() {
    if constexpr (kIsBlock) {
      block_barrier();
    } else if constexpr (kWarps == 1) {
      warp_barrier();
    } else {
      team_barrier(kFirstWarp, kWarps);
    }
  }
};
