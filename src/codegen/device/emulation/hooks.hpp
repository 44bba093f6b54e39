// The interface between a kernel compiled for the host and the machine that runs it on fibers
// (src/jit/emulation_machine.hpp): plain C, so that the two may be built apart. Emitted text holds
// this file behind types.hpp; it includes nothing.
#ifndef WHET_EMULATION_HOOKS
#define WHET_EMULATION_HOOKS

/// Words that a lane shows to its warp in one collective: the fragments of an mma are six.
inline constexpr int kEmulationExchangeWords = 8;

/// The thread that runs now.
struct EmulatedThread {
  int thread;    ///< in its block
  int block;     ///< in the grid
  char* shared;  ///< the block's dynamic shared memory
};

/// Who meets at a barrier.
enum EmulatedScope { kEmulatedWarp, kEmulatedBlock, kEmulatedCluster };

/// What the machine does for a kernel. Each function takes `machine` first; `what` names the helper
/// that waits, for messages, and those who meet must give the same. A call may run other threads
/// before it returns, and does not return when the launch has failed.
struct EmulationHooks {
  const EmulatedThread* current;  ///< rewritten by the machine when it changes threads
  void* machine;

  /// `site` is where in the kernel: the lanes of a warp meet others at one place, or a GPU hangs.
  /// Not asked of a warp that meets itself.
  void (*meet)(void* machine, EmulatedScope scope, const char* what, const void* site);
  /// The same for warps [first_warp, first_warp + num_warps) of the block.
  void (*meet_team
  )(void* machine, int first_warp, int num_warps, const char* what, const void* site);
  /// Shows `num_words` words to the warp and waits for the same of all its lanes. Lane l's words
  /// are at [l * kEmulationExchangeWords] of the result, which holds until the exchange after the
  /// next.
  const unsigned* (*exchange
  )(void* machine, const char* what, const unsigned* words, int num_words);
  /// The helper grid_barrier. Those who wait for others that cannot come are told 0.
  int (*grid_barrier
  )(void* machine,
    unsigned* control,
    unsigned num_blocks,
    unsigned place,
    unsigned spin_limit,
    const void* site);
  /// Lets others go on: the caller reads `word` next, and has not found there what it waits for.
  void (*poll)(void* machine, const unsigned* word);

  /// The helpers cp_async_*: a copy lands when its thread waits for its group, or earlier.
  void (*async_copy)(void* machine, void* shared, const void* global, int bytes, int valid);
  void (*async_commit)(void* machine);
  void (*async_wait)(void* machine, int num_pending_groups);

  /// Called before an access that the compiler instrumented, and by helpers that access memory.
  void (*access)(void* machine, const void* address, int bytes, int alignment, int is_write);
};

/// What the shared object of a kernel `whet_step` exports as `whet_step_emulated`: it stores
/// `hooks` (begin_emulation) and runs one thread of the kernel.
using EmulatedEntry = void (*)(const EmulationHooks* hooks, const void* arguments);

#endif
