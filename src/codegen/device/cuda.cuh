// What emitted kernels ask of a GPU (sm_80 and later). All PTX stands here; emulation/emulated.hpp
// holds the same functions for a CPU. Follows types.hpp in emitted text, and includes nothing.
// A function with a warp collective in it is called by all 32 lanes together.

/// The instructions below take 32-bit addresses in shared memory.
WHET_DEVICE u32 shared_address(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}

// ---- Conversions: declared in types.hpp ---------------------------------------------------------
// Pairs are converted at several times the rate of single values.
WHET_DEVICE u16 bf16_bits(float value) { return static_cast<u16>(pack_bf16(value, 0.0f)); }
WHET_DEVICE u16 f16_bits(float value) { return static_cast<u16>(pack_f16(value, 0.0f)); }
WHET_DEVICE float f32_of_f16_bits(u16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
// The instructions take the high half first.
WHET_DEVICE u32 pack_bf16(float lo, float hi) {
  u32 packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(hi), "f"(lo));
  return packed;
}
WHET_DEVICE u32 pack_f16(float lo, float hi) {
  u32 packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(hi), "f"(lo));
  return packed;
}

// ---- Threads ------------------------------------------------------------------------------------
WHET_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
WHET_DEVICE int block_index() { return static_cast<int>(blockIdx.x); }
WHET_DEVICE int lane_index() { return thread_index() & 31; }
WHET_DEVICE int warp_index() { return thread_index() >> 5; }

/// The block's dynamic shared memory, aligned to 128 bytes.
WHET_DEVICE char* shared_memory() {
  extern __shared__ __align__(128) char whet_shared_memory[];
  return whet_shared_memory;
}

// ---- Launches (sm_90 and later) -----------------------------------------------------------------
/// Waits until the launch before this one has ended and its writes are visible, then lets the next
/// one start. Of memory, only inputs that are stable may be touched before. All threads call it.
WHET_DEVICE void wait_for_previous_launch() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/// Keeps the compiler from finding out `word` later than here.
WHET_DEVICE void need_word(u64 word) { asm volatile("" ::"l"(word)); }

/// Fetches the 32 bytes around an aligned word of global memory into the L1 of a block of kSize
/// threads, and waits for nothing.
/// A load would hold a register, and prefetch.global.L1 does nothing on sm_90.
template <int kSize>
WHET_DEVICE void ask_for(const void* global) {
  __shared__ u32 nowhere[kSize];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                   shared_address(nowhere + threadIdx.x)
               ),
               "l"(global));
}

// ---- Barriers -----------------------------------------------------------------------------------
WHET_DEVICE void warp_barrier() { __syncwarp(); }
WHET_DEVICE void block_barrier() { __syncthreads(); }
/// The same for `num_warps` warps of the block from `first_warp` on, at least two. The hardware has
/// barriers 1 to 15 beside the block's own; no two teams of a phase start at the same warp.
WHET_DEVICE void team_barrier(int first_warp, int num_warps) {
  asm volatile("bar.sync %0, %1;" ::"r"(1 + first_warp), "r"(num_warps * 32) : "memory");
}

/// Reads a word that another block publishes, ordering later accesses behind that block's release.
WHET_DEVICE u32 poll_acquire(const u32* word) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

// A barrier of the grid has two halves, between which a block may do what needs nobody else. It
// needs a cooperative launch, and all threads of a block pass both halves.
//
// control[0] is the barrier: the additions of all blocks sum to 2^31, so bit 31 flips with the
// last arrival and nothing is ever reset. control[1] is the status: 0, else one more than the
// `place` at which the first block gave up; it stays until the host clears both words.
constexpr u32 kGridFlip = 0x80000000u;

/// What the thread that waits for its block knows from the arrival.
struct GridArrival {
  u32 before;  ///< control[0]
  u32 status;  ///< control[1]: not 0 when a block of this launch, or of an earlier one, gave up
};

/// What the block's threads wrote before becomes visible to those whose wait ends.
WHET_DEVICE GridArrival arrive_at_grid(u32* control, u32 num_blocks) {
  block_barrier();
  GridArrival arrival{0u, 0u};
  if (threadIdx.x == 0u) {
    const u32 more = blockIdx.x == 0u ? kGridFlip - (num_blocks - 1u) : 1u;
    asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(arrival.before)
                 : "l"(control), "r"(more)
                 : "memory");
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(arrival.status)
                 : "l"(control + 1)
                 : "memory");
  }
  return arrival;
}

/// Waits until all blocks have arrived. Returns false, to all threads of the block, when the others
/// do not come within `spin_limit` polls or another block gave up: the kernel then ends.
WHET_DEVICE bool wait_for_grid(u32* control, GridArrival arrival, u32 place, u32 spin_limit) {
  constexpr u32 kPollsPerStatus = 64u;  // looks at the status seldom: that load delays a poll
  bool gave_up = false;
  if (threadIdx.x == 0u) {
    u32 polls = 0u;
    while (((poll_acquire(control) ^ arrival.before) & kGridFlip) == 0u) {
      ++polls;
      if (polls > spin_limit) {
        atomicCAS(control + 1, 0u, place + 1u);
        gave_up = true;
        break;
      }
      if (polls % kPollsPerStatus == 0u && poll_acquire(control + 1) != 0u) {
        gave_up = true;
        break;
      }
    }
    gave_up |= arrival.status != 0u;
  }
  return __syncthreads_or(gave_up) == 0;
}

// A barrier of a cluster (sm_90 and later) has the same two halves. It cannot hang: all blocks of a
// cluster are resident, and a thread that has ended counts as one that arrived.

/// What a thread wrote before becomes visible to those whose wait ends.
WHET_DEVICE void arrive_at_cluster() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
/// Waits until all threads of the cluster have arrived. Each wait has its arrival.
WHET_DEVICE void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// ---- Warp collectives ---------------------------------------------------------------------------
WHET_DEVICE float shuffle_xor(float value, int lane_mask) {
  return __shfl_xor_sync(0xffffffffu, value, lane_mask);
}

/// The sum over the lanes, in the order of a butterfly: the same bits in every lane.
WHET_DEVICE float warp_sum(float value) {
#pragma unroll
  for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2) {
    value += shuffle_xor(value, lane_mask);
  }
  return value;
}

// ---- Asynchronous copies to shared memory -------------------------------------------------------
/// 16 bytes, aligned; zeros when not valid. Bypasses L1.
WHET_DEVICE void cp_async_16(void* shared, const void* global, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
               "l"(global),
               "r"(valid ? 16 : 0)
               : "memory");
}
/// 4 bytes, aligned; zeros when not valid.
WHET_DEVICE void cp_async_4(void* shared, const void* global, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(shared)),
               "l"(global),
               "r"(valid ? 4 : 0)
               : "memory");
}
/// Closes the group of this thread's copies since the last commit.
WHET_DEVICE void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most the N latest groups of this thread are under way.
template <int N>
WHET_DEVICE void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// ---- Matrix fragments ---------------------------------------------------------------------------
/// Four 8x8 matrices of 16-bit elements; lane 8 i + j holds the address of row j of matrix i. Lane
/// l receives in r[i] the elements 2 (l % 4) and the next of row l / 4.
WHET_DEVICE void ldmatrix_x4(u32 (&r)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(shared_row))
               : "memory");
}
/// Two matrices; lanes 16 to 31 need an address too, which is not read.
WHET_DEVICE void ldmatrix_x2(u32 (&r)[2], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(shared_address(shared_row))
               : "memory");
}
/// As ldmatrix_x4, of the transposed matrices: lane l receives elements of column l / 4.
WHET_DEVICE void ldmatrix_x4_trans(u32 (&r)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(shared_row))
               : "memory");
}
WHET_DEVICE void ldmatrix_x2_trans(u32 (&r)[2], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(shared_address(shared_row))
               : "memory");
}

/// c[16x8] += a[16x16] b[16x8]. With g = lane / 4 and q = 2 (lane % 4), two elements a register:
/// a = (g, q) (g + 8, q) (g, q + 8) (g + 8, q + 8), row and k; b = (q, g) (q + 8, g), k and column;
/// c = (g, q) (g, q + 1) (g + 8, q) (g + 8, q + 1), row and column.
WHET_DEVICE void mma_m16n8k16(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2], bf16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
WHET_DEVICE void mma_m16n8k16(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2], f16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Transposes an 8x8 matrix held as ldmatrix gives it.
WHET_DEVICE u32 movmatrix(u32 fragment) {
  u32 transposed;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(fragment));
  return transposed;
}

// ---- Wide accesses ------------------------------------------------------------------------------
/// 16 aligned bytes of global or shared memory.
WHET_DEVICE u32x4 load_16(const void* from) { return *static_cast<const u32x4*>(from); }
WHET_DEVICE void store_16(void* to, u32x4 value) { *static_cast<u32x4*>(to) = value; }
