// Tiles of products. A product is described by a struct G that the emitted text defines:
//   Element                       what operands are staged as: bf16, f16 or float
//   kM, kN, kK                    sizes; kTileM, kTileN, kTileK, kStages, kSplitK, kSkew: tiling
//   kAAlongK, kBAlongK            whether an operand's contiguous index is k; it is staged as it lies
//   kAAsync, kBAsync              whether 16-byte asynchronous copies may fetch it
//   a(b, m, k), b(b, n, k)        an element as f32;  a_address, b_address: where it lies
//   epilogue(b, m, n, acc)        what becomes of a finished element
// Each of the kSplitK groups of a block's threads sums its share of every staged K tile; the partial
// tiles meet in shared memory, in a fixed order, so results do not depend on timing.

/// The shared-memory layout of one stage: operand A, then operand B.
template <class G>
struct Staged {
  static constexpr int kARows = G::kAAlongK ? G::kTileM : G::kTileK;
  static constexpr int kARow = G::kAAlongK ? G::kTileK : G::kTileM;
  static constexpr int kAPitch = kARow + G::kSkew;
  static constexpr int kBRows = G::kBAlongK ? G::kTileN : G::kTileK;
  static constexpr int kBRow = G::kBAlongK ? G::kTileK : G::kTileN;
  static constexpr int kBPitch = kBRow + G::kSkew;
  static constexpr int kBStart = kARows * kAPitch;
  static constexpr int kElements = kBStart + kBRows * kBPitch;
  static constexpr int kChunk = 16 / static_cast<int>(sizeof(typename G::Element));
  static constexpr int kSteps = (G::kK + G::kTileK - 1) / G::kTileK;
  static constexpr int kPartialPitch = G::kTileN + 4;
  static_assert(kAPitch % kChunk == 0 && kBPitch % kChunk == 0, "staged rows are 16-byte aligned");
};

template <class G, class Buffers>
WHET_DEVICE void stage_a(const Buffers& b, typename G::Element* to, int m0, int k0) {
  using S = Staged<G>;
  if constexpr (G::kAAsync) {
    constexpr int kChunks = S::kARow / S::kChunk;
    for (int i = thread_index(); i < S::kARows * kChunks; i += kThreads) {
      const int row = i / kChunks;
      const int column = i % kChunks * S::kChunk;
      const int m = m0 + (G::kAAlongK ? row : column);
      const int k = k0 + (G::kAAlongK ? column : row);
      const bool valid = m < G::kM && k < G::kK;
      cp_async_16(
          to + row * S::kAPitch + column, G::a_address(b, valid ? m : 0, valid ? k : 0), valid
      );
    }
  } else {
#pragma unroll 4
    for (int i = thread_index(); i < S::kARows * S::kARow; i += kThreads) {
      const int row = i / S::kARow;
      const int column = i % S::kARow;
      const int m = m0 + (G::kAAlongK ? row : column);
      const int k = k0 + (G::kAAlongK ? column : row);
      const float value = m < G::kM && k < G::kK ? G::a(b, m, k) : 0.0f;
      to[row * S::kAPitch + column] = from_f32<typename G::Element>(value);
    }
  }
}

template <class G, class Buffers>
WHET_DEVICE void stage_b(const Buffers& b, typename G::Element* to, int n0, int k0) {
  using S = Staged<G>;
  if constexpr (G::kBAsync) {
    constexpr int kChunks = S::kBRow / S::kChunk;
    for (int i = thread_index(); i < S::kBRows * kChunks; i += kThreads) {
      const int row = i / kChunks;
      const int column = i % kChunks * S::kChunk;
      const int n = n0 + (G::kBAlongK ? row : column);
      const int k = k0 + (G::kBAlongK ? column : row);
      const bool valid = n < G::kN && k < G::kK;
      cp_async_16(
          to + row * S::kBPitch + column, G::b_address(b, valid ? n : 0, valid ? k : 0), valid
      );
    }
  } else {
#pragma unroll 4
    for (int i = thread_index(); i < S::kBRows * S::kBRow; i += kThreads) {
      const int row = i / S::kBRow;
      const int column = i % S::kBRow;
      const int n = n0 + (G::kBAlongK ? row : column);
      const int k = k0 + (G::kBAlongK ? column : row);
      const float value = n < G::kN && k < G::kK ? G::b(b, n, k) : 0.0f;
      to[row * S::kBPitch + column] = from_f32<typename G::Element>(value);
    }
  }
}

/// Tensor cores: a warp holds kFragmentsM x kFragmentsN accumulators of m16n8k16.
template <class G>
struct MmaAccumulator {
  static constexpr int kFragmentsM = G::kTileM / 16 / G::kWarpsM;
  static constexpr int kFragmentsN = G::kTileN / 8 / G::kWarpsN;
  static constexpr int kGroupWarps = G::kWarpsM * G::kWarpsN;
  static_assert(kGroupWarps * G::kSplitK * 32 == kThreads, "every warp has a share");
  static_assert(G::kTileK % (16 * G::kSplitK) == 0, "every K group has a share");

  float c[kFragmentsM][kFragmentsN][4] = {};

  WHET_MEMBER static int group() { return warp_index() / kGroupWarps; }
  WHET_MEMBER static int m_of_warp() {
    return warp_index() % kGroupWarps / G::kWarpsN * kFragmentsM * 16;
  }
  WHET_MEMBER static int n_of_warp() { return warp_index() % G::kWarpsN * kFragmentsN * 8; }

  WHET_MEMBER static void load_a(u32 (&r)[4], const typename G::Element* a, int m, int k) {
    using S = Staged<G>;
    const int l = lane_index();
    if constexpr (G::kAAlongK) {
      ldmatrix_x4(r, a + (m + l % 16) * S::kAPitch + k + l / 16 * 8);
    } else {
      ldmatrix_x4_trans(r, a + (k + l % 8 + l / 16 * 8) * S::kAPitch + m + l / 8 % 2 * 8);
    }
  }
  WHET_MEMBER static void load_b(u32 (&r)[2], const typename G::Element* b, int n, int k) {
    using S = Staged<G>;
    const int l = lane_index() % 16;  // x2 takes the addresses of the first sixteen lanes
    if constexpr (G::kBAlongK) {
      ldmatrix_x2(r, b + (n + l % 8) * S::kBPitch + k + l / 8 * 8);
    } else {
      ldmatrix_x2_trans(r, b + (k + l) * S::kBPitch + n);
    }
  }

  WHET_MEMBER void multiply(const typename G::Element* stage) {
    const typename G::Element* a = stage;
    const typename G::Element* b = stage + Staged<G>::kBStart;
#pragma unroll
    for (int step = 0; step < G::kTileK / 16 / G::kSplitK; ++step) {
      const int k = (step * G::kSplitK + group()) * 16;
      u32 fragment_a[kFragmentsM][4];
      u32 fragment_b[kFragmentsN][2];
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) load_a(fragment_a[i], a, m_of_warp() + i * 16, k);
#pragma unroll
      for (int j = 0; j < kFragmentsN; ++j) load_b(fragment_b[j], b, n_of_warp() + j * 8, k);
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) {
#pragma unroll
        for (int j = 0; j < kFragmentsN; ++j) {
          mma_m16n8k16(c[i][j], fragment_a[i], fragment_b[j], typename G::Element{});
        }
      }
    }
  }

  WHET_MEMBER void store(float* partial) const {
    constexpr int kPitch = Staged<G>::kPartialPitch;
    float* to = partial + (group() * G::kTileM + m_of_warp()) * kPitch + n_of_warp();
#pragma unroll
    for (int i = 0; i < kFragmentsM; ++i) {
#pragma unroll
      for (int j = 0; j < kFragmentsN; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int m = i * 16 + lane_index() / 4 + e / 2 * 8;
          const int n = j * 8 + lane_index() % 4 * 2 + e % 2;
          to[m * kPitch + n] = c[i][j][e];
        }
      }
    }
  }
};

/// Plain fma: a thread holds kThreadM x kThreadN elements, spread over the tile so that neighbours
/// read neighbours.
template <class G>
struct SimtAccumulator {
  static constexpr int kColumns = G::kTileN / G::kThreadN;
  static constexpr int kGroupThreads = kThreads / G::kSplitK;
  static constexpr int kRows = G::kTileM / G::kThreadM;
  static_assert(kRows * kColumns == kGroupThreads, "every thread has a share");

  float c[G::kThreadM][G::kThreadN] = {};

  WHET_MEMBER static int group() { return thread_index() / kGroupThreads; }
  WHET_MEMBER static int row() { return thread_index() % kGroupThreads / kColumns; }
  WHET_MEMBER static int column() { return thread_index() % kColumns; }

  WHET_MEMBER void multiply(const typename G::Element* stage) {
    using S = Staged<G>;
    const typename G::Element* a = stage;
    const typename G::Element* b = stage + S::kBStart;
#pragma unroll 4
    for (int k = group(); k < G::kTileK; k += G::kSplitK) {
      float value_a[G::kThreadM];
      float value_b[G::kThreadN];
#pragma unroll
      for (int i = 0; i < G::kThreadM; ++i) {
        const int m = row() + i * kRows;
        value_a[i] = to_f32(a[G::kAAlongK ? m * S::kAPitch + k : k * S::kAPitch + m]);
      }
#pragma unroll
      for (int j = 0; j < G::kThreadN; ++j) {
        const int n = column() + j * kColumns;
        value_b[j] = to_f32(b[G::kBAlongK ? n * S::kBPitch + k : k * S::kBPitch + n]);
      }
#pragma unroll
      for (int i = 0; i < G::kThreadM; ++i) {
#pragma unroll
        for (int j = 0; j < G::kThreadN; ++j) c[i][j] = fma(value_a[i], value_b[j], c[i][j]);
      }
    }
  }

  WHET_MEMBER void store(float* partial) const {
    constexpr int kPitch = Staged<G>::kPartialPitch;
#pragma unroll
    for (int i = 0; i < G::kThreadM; ++i) {
#pragma unroll
      for (int j = 0; j < G::kThreadN; ++j) {
        const int m = row() + i * kRows;
        const int n = column() + j * kColumns;
        partial[(group() * G::kTileM + m) * kPitch + n] = c[i][j];
      }
    }
  }
};

/// One tile of a product, from global memory to its epilogue.
template <class G, class Accumulator, class Buffers>
WHET_DEVICE void gemm_tile(const Buffers& b, char* shared, int tile) {
  using S = Staged<G>;
  constexpr int kTilesN = (G::kN + G::kTileN - 1) / G::kTileN;
  const int m0 = tile / kTilesN * G::kTileM;
  const int n0 = tile % kTilesN * G::kTileN;
  auto* const stages = reinterpret_cast<typename G::Element*>(shared);
  const auto fetch = [&](int step) {
    typename G::Element* to = stages + step % G::kStages * S::kElements;
    stage_a<G>(b, to, m0, step * G::kTileK);
    stage_b<G>(b, to + S::kBStart, n0, step * G::kTileK);
  };

  Accumulator acc;
#pragma unroll
  for (int step = 0; step < G::kStages - 1; ++step) {
    if (step < S::kSteps) fetch(step);
    cp_async_commit();
  }
  for (int step = 0; step < S::kSteps; ++step) {
    if constexpr (G::kStages == 1) {
      fetch(step);
      cp_async_commit();
      cp_async_wait<0>();
      block_barrier();
      acc.multiply(stages);
      block_barrier();
    } else {
      cp_async_wait<G::kStages - 2>();
      block_barrier();  // also: all have read the stage that is fetched into next
      if (step + G::kStages - 1 < S::kSteps) fetch(step + G::kStages - 1);
      cp_async_commit();
      acc.multiply(stages + step % G::kStages * S::kElements);
    }
  }
  if constexpr (G::kStages > 1) block_barrier();

  auto* const partial = reinterpret_cast<float*>(shared);
  acc.store(partial);
  block_barrier();
  for (int i = thread_index(); i < G::kTileM * G::kTileN; i += kThreads) {
    const int m = i / G::kTileN;
    const int n = i % G::kTileN;
    if (m0 + m < G::kM && n0 + n < G::kN) {
      float sum = partial[m * S::kPartialPitch + n];
#pragma unroll
      for (int group = 1; group < G::kSplitK; ++group) {
        sum += partial[(group * G::kTileM + m) * S::kPartialPitch + n];
      }
      G::epilogue(b, m0 + m, n0 + n, sum);
    }
  }
  block_barrier();
}
