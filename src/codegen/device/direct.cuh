// Products whose operands go from memory to registers, each thread fetching what it multiplies: no
// staging and no barrier before the partial sums. Besides what gemm.cuh says, an operand has
//   kTile                         rows of it in a tile
//   kQuad                         whether elements k to k + 3 are neighbours, aligned and all there
//   quad(b, row, k)               those four as two words of Elements
//   kRun                          how many rows are neighbours at an even row, 1 if not aligned
//   words(b, row, k, to)          2 W of them as W words of Elements, W = kRun / 2 or less
//   kEarly                        whether it may be read before the edge in front of the phase
// and so has the product itself a kEarly, for what its epilogue reads.

/// Whether a row of a tile of operand O is one that it has.
template <class O>
WHET_DEVICE bool is_row(int row) {
  return O::kRows % O::kTile == 0 || row < O::kRows;
}
/// Whether the K of a step is one that the product has; kWholeK says that all are.
template <class G, bool kWholeK>
WHET_DEVICE bool is_k(int k) {
  return kWholeK || k < G::kK;
}

/// Elements (row, k) to (row, k + 3) of operand O as two words; zero outside.
template <class G, class O, bool kWholeK, class Buffers>
WHET_DEVICE u32x2 fetch_quad(const Buffers& b, int row, int k) {
  if constexpr (O::kQuad) {
    u32x2 quad{0u, 0u};
    if (is_row<O>(row) && is_k<G, kWholeK>(k)) quad = O::quad(b, row, k);
    return quad;
  } else {
    float values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values[i] = is_row<O>(row) && is_k<G, kWholeK>(k + i) ? O::at(b, row, k + i) : 0.0f;
    }
    using E = typename G::Element;
    return u32x2{pack2<E>(values[0], values[1]), pack2<E>(values[2], values[3])};
  }
}

// A product does not ask in which order K is summed, if both operands keep to one: a step's sixteen
// elements of K meet the mma so that its elements 2 q, 2 q + 1, 2 q + 8 and 2 q + 9 are 4 q to
// 4 q + 3, which are neighbours. Nor does it ask in which order rows come, if the accumulators are
// read back in the same.

/// kBlocks groups of eight rows by sixteen of K, from an operand that lies along k: registers
/// [group][k half] of a fragment. `row` is the first.
template <class G, class O, bool kWholeK, int kBlocks, class Buffers>
WHET_DEVICE void fetch_along_k(u32 (&to)[kBlocks][2], const Buffers& b, int row, int k) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const u32x2 quad =
        fetch_quad<G, O, kWholeK>(b, row + block * 8 + lane_index() / 4, k + lane_index() % 4 * 4);
    to[block][0] = quad.x;
    to[block][1] = quad.y;
  }
}

/// The same from an operand that lies along its rows: a lane fetches 2 W rows of one k, and
/// movmatrix turns what it holds as [k][row] into [row][k].
template <class G, class O, int W, bool kWholeK, int kBlocks, class Buffers>
WHET_DEVICE void fetch_along_rows(u32 (&to)[kBlocks][2], const Buffers& b, int row, int k) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int k_of_lane = k + lane_index() / 8 * 4 + lane_index() / 4 % 2 + half * 2;
#pragma unroll
    for (int first = 0; first < kBlocks; first += W) {
      const int row_of_lane = row + first * 8 + lane_index() % 4 * 2 * W;
      u32 words[W] = {};
      if (is_row<O>(row_of_lane) && is_k<G, kWholeK>(k_of_lane)) {
        O::template words<W>(b, row_of_lane, k_of_lane, words);
      }
#pragma unroll
      for (int w = 0; w < W; ++w) to[first + w][half] = movmatrix(words[w]);
    }
  }
}

template <class G, class O, int W, bool kWholeK, int kBlocks, class Buffers>
WHET_DEVICE void fetch_fragments(u32 (&to)[kBlocks][2], const Buffers& b, int row, int k) {
  if constexpr (O::kRun > 1) {
    fetch_along_rows<G, O, W, kWholeK>(to, b, row, k);
  } else {
    fetch_along_k<G, O, kWholeK>(to, b, row, k);
  }
}

template <class G, class Accumulator>
class Multiplication;

/// A product on tensor cores, a batch of steps of K at a time.
template <class G>
class Multiplication<G, MmaAccumulator<G>> {
 public:
  /// Fetches what is early of the first batch.
  template <class Buffers>
  WHET_MEMBER void begin(const Buffers& b, int m0, int n0) {
    fetch<true>(b, m0, n0, 0);
  }
  /// Behind begin().
  template <class Buffers>
  WHET_MEMBER void run(MmaAccumulator<G>& acc, const Buffers& b, int m0, int n0) {
    for (int first = 0; first < kShare; first += kBatch) {
      if (first > 0) fetch<true>(b, m0, n0, first);
      fetch<false>(b, m0, n0, first);
#pragma unroll
      for (int s = 0; s < kBatch; ++s) {
#pragma unroll
        for (int i = 0; i < A::kFragmentsM; ++i) {
          const u32 fragment[4] = {
              rows_[s][2 * i][0], rows_[s][2 * i + 1][0], rows_[s][2 * i][1], rows_[s][2 * i + 1][1]};
#pragma unroll
          for (int j = 0; j < A::kFragmentsN; ++j) {
            mma_m16n8k16(acc.c[i][j], fragment, columns_[s][j], typename G::Element{});
          }
        }
      }
    }
  }

 private:
  using A = MmaAccumulator<G>;
  static constexpr int kSteps = (G::kK + 15) / 16;
  static constexpr int kShare = (kSteps + G::kSplitK - 1) / G::kSplitK;
  static constexpr int kStepWords = A::kFragmentsM * 4 + A::kFragmentsN * 2;
  static constexpr int kFits = kStepWords < 64 ? 64 / kStepWords : 1;
  static constexpr int kBatch = kFits < kShare ? kFits : kShare;  // steps under way at once
  static constexpr bool kWholeK =
      G::kK % 16 == 0 && kSteps % G::kSplitK == 0 && kShare % kBatch == 0;

  template <bool kEarly, class Buffers>
  WHET_MEMBER void fetch(const Buffers& b, int m0, int n0, int first) {
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      const int k = ((first + s) * G::kSplitK + A::group()) * 16;
      if constexpr (G::A::kEarly == kEarly) {
        fetch_fragments<G, typename G::A, A::kWordsA, kWholeK>(rows_[s], b, m0 + A::m_of_warp(), k);
      }
      if constexpr (G::B::kEarly == kEarly) {
        fetch_fragments<G, typename G::B, A::kWordsB, kWholeK>(
            columns_[s], b, n0 + A::n_of_warp(), k
        );
      }
    }
  }

  u32 rows_[kBatch][A::kFragmentsM * 2][2];
  u32 columns_[kBatch][A::kFragmentsN][2];
};

/// A product by plain fma, which reads nothing early.
template <class G>
class Multiplication<G, SimtAccumulator<G>> {
 public:
  template <class Buffers>
  WHET_MEMBER void begin(const Buffers&, int, int) {}
  template <class Buffers>
  WHET_MEMBER void run(SimtAccumulator<G>& acc, const Buffers& b, int m0, int n0) {
    using A = SimtAccumulator<G>;
    using E = typename G::Element;
#pragma unroll 4
    for (int k = A::group(); k < G::kK; k += G::kSplitK) {
      float value_a[G::kThreadM];
      float value_b[G::kThreadN];
#pragma unroll
      for (int i = 0; i < G::kThreadM; ++i) {
        const int m = m0 + A::row() + i * A::kRows;
        value_a[i] = is_row<typename G::A>(m) ? rounded_to<E>(G::A::at(b, m, k)) : 0.0f;
      }
#pragma unroll
      for (int j = 0; j < G::kThreadN; ++j) {
        const int n = n0 + A::column() + j * A::kColumns;
        value_b[j] = is_row<typename G::B>(n) ? rounded_to<E>(G::B::at(b, n, k)) : 0.0f;
      }
#pragma unroll
      for (int i = 0; i < G::kThreadM; ++i) {
#pragma unroll
        for (int j = 0; j < G::kThreadN; ++j) acc.c[i][j] = fma(value_a[i], value_b[j], acc.c[i][j]);
      }
    }
  }
};

/// One tile of a product, from memory to its epilogue: what is early is under way while the threads
/// wait for `edge`.
template <class G, class Accumulator, class Buffers, class Edge>
WHET_DEVICE void direct_tile(const Buffers& b, char* shared, int tile, Edge&& edge) {
  constexpr int kTilesN = (G::kN + G::kTileN - 1) / G::kTileN;
  const int m0 = tile / kTilesN * G::kTileM;
  const int n0 = tile % kTilesN * G::kTileN;
  Accumulator acc;
  Multiplication<G, Accumulator> multiplication;
  if constexpr (G::kSplitK == 1) {
    if (Accumulator::is_spare()) return;
    Epilogue<G, InRegisters<G, Accumulator>> epilogue;
    multiplication.begin(b, m0, n0);
    if constexpr (G::kEarly) epilogue.begin(b, m0, n0);
    if (!edge.wait()) return;
    if constexpr (!G::kEarly) epilogue.begin(b, m0, n0);
    multiplication.run(acc, b, m0, n0);
    epilogue.finish(b, m0, n0, [&](int i, float(&values)[Accumulator::kWidth]) {
      acc.run(i, values);
    });
  } else {
    Epilogue<G, InShared<G, Accumulator>> epilogue;
    if (!Accumulator::is_spare()) multiplication.begin(b, m0, n0);
    if constexpr (G::kEarly) epilogue.begin(b, m0, n0);
    if (!edge.wait()) return;
    if constexpr (!G::kEarly) epilogue.begin(b, m0, n0);
    if (!Accumulator::is_spare()) multiplication.run(acc, b, m0, n0);
    finish_in_shared<G>(b, shared, acc, m0, n0, epilogue);
  }
}
