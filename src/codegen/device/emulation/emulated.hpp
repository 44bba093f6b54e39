// The twin of cuda.cuh for a CPU: emitted CUDA text behind this file compiles with the host
// compiler and runs one fiber a thread, for correctness only. Follows types.hpp and hooks.hpp, and
// includes nothing. Contracts are those of cuda.cuh; what differs is said here.
#define __global__
#define __device__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

// A helper's own accesses are the machine's business and stay uninstrumented (see the end), for
// which it must not be inlined into a kernel.
#define WHET_TWIN static __attribute__((noinline, unused, no_sanitize_thread))

/// The machine. Every thread stores the same one before it runs the kernel.
static const EmulationHooks* emulation;
WHET_TWIN void begin_emulation(const EmulationHooks* hooks) { emulation = hooks; }

// ---- Threads ------------------------------------------------------------------------------------
WHET_TWIN int thread_index() { return emulation->current->thread; }
WHET_TWIN int block_index() { return emulation->current->block; }
WHET_TWIN int lane_index() { return thread_index() & 31; }
WHET_TWIN int warp_index() { return thread_index() >> 5; }
WHET_TWIN char* shared_memory() { return emulation->current->shared; }

// ---- Launches -----------------------------------------------------------------------------------
/// Emulated launches run one after the other.
WHET_TWIN void wait_for_previous_launch() {}
WHET_TWIN void need_word(u64) {}
/// A read like another: whoever writes the byte meanwhile races with it.
template <int kSize>
WHET_TWIN void ask_for(const void* global) {
  emulation->access(emulation->machine, global, 4, 4, 0);
}

// ---- Barriers -----------------------------------------------------------------------------------
WHET_TWIN void warp_barrier() {
  emulation->meet(emulation->machine, kEmulatedWarp, "warp_barrier", nullptr);
}
WHET_TWIN void block_barrier() {
  emulation->meet(emulation->machine, kEmulatedBlock, "block_barrier", __builtin_return_address(0));
}
WHET_TWIN void team_barrier(int first_warp, int num_warps) {
  emulation->meet_team(
      emulation->machine, first_warp, num_warps, "team_barrier", __builtin_return_address(0)
  );
}

/// Others run before the word is read, so that a loop of polls ends or is found to be endless.
WHET_TWIN u32 poll_acquire(const u32* word) {
  emulation->poll(emulation->machine, word);
  return *static_cast<const volatile u32*>(word);
}

/// The rendezvous is all in the wait: what a thread does in between races with what others did
/// before they arrived.
struct GridArrival {
  u32 num_blocks;
  u32 status;
};
WHET_TWIN GridArrival arrive_at_grid(u32* control, u32 num_blocks) {
  return {num_blocks, *static_cast<const volatile u32*>(control + 1)};
}
/// It gives up when the others can no longer come, whatever `spin_limit`.
WHET_TWIN bool wait_for_grid(u32* control, GridArrival arrival, u32 place, u32 spin_limit) {
  return arrival.status == 0u && emulation->grid_barrier(
                                     emulation->machine,
                                     control,
                                     arrival.num_blocks,
                                     place,
                                     spin_limit,
                                     __builtin_return_address(0)
                                 ) != 0;
}

/// As of a grid, the rendezvous is all in the wait.
WHET_TWIN void arrive_at_cluster() {}
WHET_TWIN void wait_for_cluster() {
  emulation->meet(
      emulation->machine, kEmulatedCluster, "wait_for_cluster", __builtin_return_address(0)
  );
}

// ---- Warp collectives ---------------------------------------------------------------------------
/// What every lane of the warp shows; lane l's words are at [l * kEmulationExchangeWords].
WHET_TWIN const u32* exchange(const char* what, const u32* words, int num_words) {
  return emulation->exchange(emulation->machine, what, words, num_words);
}

WHET_TWIN float shuffle_xor(float value, int lane_mask) {
  const u32 word = bits_of(value);
  const u32* all = exchange("shuffle_xor", &word, 1);
  return f32_from_bits(all[((lane_index() ^ lane_mask) & 31) * kEmulationExchangeWords]);
}

/// The butterfly's additions, all done by each lane: one exchange for five.
WHET_TWIN float warp_sum(float value) {
  const u32 word = bits_of(value);
  const u32* all = exchange("warp_sum", &word, 1);
  float sums[32];
  for (int lane = 0; lane < 32; ++lane) {
    sums[lane] = f32_from_bits(all[lane * kEmulationExchangeWords]);
  }
  for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2) {
    for (int lane = 0; lane < lane_mask; ++lane) {
      sums[lane] += sums[lane + lane_mask];
    }
  }
  return sums[0];
}

// ---- Asynchronous copies to shared memory -------------------------------------------------------
WHET_TWIN void cp_async_16(void* shared, const void* global, bool valid) {
  emulation->async_copy(emulation->machine, shared, global, 16, valid);
}
WHET_TWIN void cp_async_4(void* shared, const void* global, bool valid) {
  emulation->async_copy(emulation->machine, shared, global, 4, valid);
}
WHET_TWIN void cp_async_commit() { emulation->async_commit(emulation->machine); }
template <int N>
WHET_TWIN void cp_async_wait() {
  emulation->async_wait(emulation->machine, N);
}

// ---- Matrix fragments ---------------------------------------------------------------------------
/// Element `column` of row `row` of matrix `matrix`, from the row addresses that the lanes showed.
WHET_TWIN u32 matrix_element(const u32* all, int matrix, int row, int column) {
  const u32* words = all + (8 * matrix + row) * kEmulationExchangeWords;
  const u64 address = words[0] | (static_cast<u64>(words[1]) << 32);
  u16 element;
  __builtin_memcpy(&element, reinterpret_cast<const char*>(address) + 2 * column, 2);
  return element;
}

template <int Count, bool Transposed>
WHET_TWIN void load_matrices(u32 (&r)[Count], const void* shared_row, const char* what) {
  const u64 address = reinterpret_cast<u64>(shared_row);
  const u32 words[2] = {static_cast<u32>(address), static_cast<u32>(address >> 32)};
  if (lane_index() < 8 * Count) {
    emulation->access(emulation->machine, shared_row, 16, 16, 0);
  }
  const u32* all = exchange(what, words, 2);
  const int major = lane_index() / 4;
  const int minor = lane_index() % 4 * 2;
  for (int i = 0; i < Count; ++i) {
    const u32 lo =
        Transposed ? matrix_element(all, i, minor, major) : matrix_element(all, i, major, minor);
    const u32 hi = Transposed ? matrix_element(all, i, minor + 1, major)
                              : matrix_element(all, i, major, minor + 1);
    r[i] = lo | (hi << 16);
  }
}

WHET_TWIN void ldmatrix_x4(u32 (&r)[4], const void* shared_row) {
  load_matrices<4, false>(r, shared_row, "ldmatrix_x4");
}
WHET_TWIN void ldmatrix_x2(u32 (&r)[2], const void* shared_row) {
  load_matrices<2, false>(r, shared_row, "ldmatrix_x2");
}
WHET_TWIN void ldmatrix_x4_trans(u32 (&r)[4], const void* shared_row) {
  load_matrices<4, true>(r, shared_row, "ldmatrix_x4_trans");
}
WHET_TWIN void ldmatrix_x2_trans(u32 (&r)[2], const void* shared_row) {
  load_matrices<2, true>(r, shared_row, "ldmatrix_x2_trans");
}

/// Element `parity` of word `word` that lane `lane` showed.
template <class T>
WHET_TWIN float fragment_element(const u32* all, int lane, int word, int parity) {
  return to_f32(T{static_cast<u16>(all[lane * kEmulationExchangeWords + word] >> (16 * parity))});
}

/// The products are exact in f32 and are added one by one in the order of k; a tensor core adds
/// them in an order, and with a rounding, that NVIDIA does not state.
template <class T>
WHET_TWIN void multiply_fragments(
    float (&c)[4], const u32 (&a)[4], const u32 (&b)[2], const char* what
) {
  const u32 words[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  const u32* all = exchange(what, words, 6);
  const int group = lane_index() / 4;
  const int pair = lane_index() % 4 * 2;
  for (int i = 0; i < 4; ++i) {
    const int row_half = i / 2;
    const int column = pair + i % 2;
    for (int k = 0; k < 16; ++k) {
      const int k_lane = k % 8 / 2;
      const int k_half = k / 8;
      const float a_element =
          fragment_element<T>(all, group * 4 + k_lane, row_half + 2 * k_half, k % 2);
      const float b_element = fragment_element<T>(all, column * 4 + k_lane, 4 + k_half, k % 2);
      c[i] += a_element * b_element;
    }
  }
}

WHET_TWIN void mma_m16n8k16(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2], bf16) {
  multiply_fragments<bf16>(c, a, b, "mma_m16n8k16 bf16");
}
WHET_TWIN void mma_m16n8k16(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2], f16) {
  multiply_fragments<f16>(c, a, b, "mma_m16n8k16 f16");
}

WHET_TWIN u32 movmatrix(u32 fragment) {
  const u32* all = exchange("movmatrix", &fragment, 1);
  const int column = lane_index() / 4;
  const int row = lane_index() % 4 * 2;
  const int shift = 16 * (column % 2);
  const u32 lo = all[(row * 4 + column / 2) * kEmulationExchangeWords] >> shift;
  const u32 hi = all[((row + 1) * 4 + column / 2) * kEmulationExchangeWords] >> shift;
  return (lo & 0xffffu) | (hi << 16);
}

// ---- Wide accesses ------------------------------------------------------------------------------
WHET_TWIN u32x4 load_16(const void* from) {
  emulation->access(emulation->machine, from, 16, 16, 0);
  u32x4 value;
  __builtin_memcpy(&value, from, 16);
  return value;
}
WHET_TWIN void store_16(void* to, u32x4 value) {
  emulation->access(emulation->machine, to, 16, 16, 1);
  __builtin_memcpy(to, &value, 16);
}

// ---- Instrumented accesses ----------------------------------------------------------------------
// -fsanitize=thread makes the compiler call these before each access to memory. Linked without the
// sanitizer's library, they hand every access of a kernel to the machine.
#if defined(__SANITIZE_THREAD__)
#define WHET_INSTRUMENTATION \
  extern "C" __attribute__((used, visibility("hidden"), no_sanitize_thread)) void
#define WHET_ACCESS(name, bytes, alignment, is_write)                               \
  WHET_INSTRUMENTATION __tsan_##name(void* address) {                               \
    emulation->access(emulation->machine, address, (bytes), (alignment), is_write); \
  }
WHET_INSTRUMENTATION __tsan_init() {}
WHET_INSTRUMENTATION __tsan_func_entry(void*) {}
WHET_INSTRUMENTATION __tsan_func_exit() {}
WHET_INSTRUMENTATION __tsan_read_range(void* address, unsigned long bytes) {
  emulation->access(emulation->machine, address, static_cast<int>(bytes), 1, 0);
}
WHET_INSTRUMENTATION __tsan_write_range(void* address, unsigned long bytes) {
  emulation->access(emulation->machine, address, static_cast<int>(bytes), 1, 1);
}
WHET_ACCESS(read1, 1, 1, 0)
WHET_ACCESS(read2, 2, 2, 0)
WHET_ACCESS(read4, 4, 4, 0)
WHET_ACCESS(read8, 8, 8, 0)
WHET_ACCESS(read16, 16, 16, 0)
WHET_ACCESS(unaligned_read2, 2, 1, 0)
WHET_ACCESS(unaligned_read4, 4, 1, 0)
WHET_ACCESS(unaligned_read8, 8, 1, 0)
WHET_ACCESS(unaligned_read16, 16, 1, 0)
WHET_ACCESS(write1, 1, 1, 1)
WHET_ACCESS(write2, 2, 2, 1)
WHET_ACCESS(write4, 4, 4, 1)
WHET_ACCESS(write8, 8, 8, 1)
WHET_ACCESS(write16, 16, 16, 1)
WHET_ACCESS(unaligned_write2, 2, 1, 1)
WHET_ACCESS(unaligned_write4, 4, 1, 1)
WHET_ACCESS(unaligned_write8, 8, 1, 1)
WHET_ACCESS(unaligned_write16, 16, 1, 1)
#undef WHET_ACCESS
#undef WHET_INSTRUMENTATION
#endif
