// Products whose operands go from memory to registers, each thread fetching what it multiplies: no
// staging and no barrier before the partial sums. Besides what gemm.cuh says, an operand has
//   kTile                         rows of it in a tile
//   Stored                        type of its elements, or Element if at() is the only way to them
//   kQuad                         whether elements k to k + 3 are neighbours, aligned and all there
//   kOctet                        the same of k to k + 7, in one access of 16 bytes
//   kRun                          how many rows are neighbours at an even row, 1 if not aligned
//   address(b, row, k)            where an element lies, if one of the two
//   kEarly                        whether it may be read before the edge in front of the phase
// and the product itself
//   kEarly                        the same of all that its epilogue reads
//   kOperandWords                 registers for operands that are under way

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

// A product does not ask in which order K is summed, if both operands keep to one: a step's sixteen
// elements of K meet the mma so that its elements 2 q, 2 q + 1, 2 q + 8 and 2 q + 9 are kPitch q to
// kPitch q + 3, which are neighbours. kPitch is 4, or 8 where a pair of steps shares 32 elements, so
// that a lane loads its part of both at once: the cache takes a cycle a line. Nor does it ask in
// which order rows come, if the accumulators are read back in the same.
//
// Loads and conversions stand apart: the words that a lane has loaded of operand O, for kBlocks
// groups of eight rows by sixteen of K, are [group][k half and word of the pair].

template <class O>
constexpr int kGroupWords = 2 * kPairWords<typename O::Stored>;

/// From an operand that lies along k: a lane loads elements k to k + 3 of a row. `row` is the first.
template <class G, class O, int kPitch, bool kWholeK, int kBlocks, class Buffers>
WHET_DEVICE void load_along_k(
    u32 (&to)[kBlocks][kGroupWords<O>], const Buffers& b, int row, int k
) {
  const int k_of_lane = k + lane_index() % 4 * kPitch;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const int row_of_lane = row + block * 8 + lane_index() / 4;
    if constexpr (O::kQuad) {
#pragma unroll
      for (int w = 0; w < kGroupWords<O>; ++w) to[block][w] = 0u;
      if (is_row<O>(row_of_lane) && is_k<G, kWholeK>(k_of_lane)) {
        load_words(to[block], O::address(b, row_of_lane, k_of_lane));
      }
    } else {
      float values[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool is_there = is_row<O>(row_of_lane) && is_k<G, kWholeK>(k_of_lane + i);
        values[i] = is_there ? O::at(b, row_of_lane, k_of_lane + i) : 0.0f;
      }
      to[block][0] = pack2<typename G::Element>(values[0], values[1]);
      to[block][1] = pack2<typename G::Element>(values[2], values[3]);
    }
  }
}

/// The same for both steps of a pair, elements k to k + 7 of a row at once.
template <class G, class O, bool kWholeK, int kBlocks, class Buffers>
WHET_DEVICE void load_octets(
    u32 (&first)[kBlocks][kGroupWords<O>],
    u32 (&second)[kBlocks][kGroupWords<O>],
    const Buffers& b,
    int row,
    int k
) {
  const int k_of_lane = k + lane_index() % 4 * 8;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const int row_of_lane = row + block * 8 + lane_index() / 4;
    u32 words[4] = {};
    if (is_row<O>(row_of_lane) && is_k<G, kWholeK>(k_of_lane)) {
      load_words(words, O::address(b, row_of_lane, k_of_lane));
    }
    first[block][0] = words[0];
    first[block][1] = words[1];
    second[block][0] = words[2];
    second[block][1] = words[3];
  }
}

/// From an operand that lies along its rows: a lane loads 2 W rows of one k.
template <class G, class O, int W, int kPitch, bool kWholeK, int kBlocks, class Buffers>
WHET_DEVICE void load_along_rows(
    u32 (&to)[kBlocks][kGroupWords<O>], const Buffers& b, int row, int k
) {
  constexpr int kPair = kPairWords<typename O::Stored>;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int k_of_lane = k + lane_index() / 8 * kPitch + lane_index() / 4 % 2 + half * 2;
#pragma unroll
    for (int first = 0; first < kBlocks; first += W) {
      const int row_of_lane = row + first * 8 + lane_index() % 4 * 2 * W;
      u32 words[W * kPair] = {};
      if (is_row<O>(row_of_lane) && is_k<G, kWholeK>(k_of_lane)) {
        load_words(words, O::address(b, row_of_lane, k_of_lane));
      }
#pragma unroll
      for (int w = 0; w < W * kPair; ++w) to[first + w / kPair][half * kPair + w % kPair] = words[w];
    }
  }
}

template <class G, class O, int W, int kPitch, bool kWholeK, int kBlocks, class Buffers>
WHET_DEVICE void load_operand(
    u32 (&to)[kBlocks][kGroupWords<O>], const Buffers& b, int row, int k
) {
  if constexpr (O::kRun > 1) {
    load_along_rows<G, O, W, kPitch, kWholeK>(to, b, row, k);
  } else {
    load_along_k<G, O, kPitch, kWholeK>(to, b, row, k);
  }
}

/// Whether an access of four elements along k fills 16 bytes already.
template <class O>
constexpr bool kIsWideQuad = O::kQuad && sizeof(typename O::Stored) == 4;

/// Register `half` of a group's fragment. What a lane loaded as [k][row], movmatrix turns into
/// [row][k].
template <class G, class O>
WHET_DEVICE u32 fragment_of(const u32 (&group)[kGroupWords<O>], int half) {
  using Stored = typename O::Stored;
  const u32 pair = pair_of<typename G::Element, Stored>(group + half * kPairWords<Stored>);
  return O::kRun > 1 ? movmatrix(pair) : pair;
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
      for (int s = 0; s < kBatch; ++s) multiply(acc, s);
    }
  }

 private:
  using A = MmaAccumulator<G>;
  static constexpr int kSteps = (G::kK + 15) / 16;
  static constexpr int kShare = (kSteps + G::kSplitK - 1) / G::kSplitK;
  static constexpr int kWordsOfRows = kGroupWords<typename G::A>;
  static constexpr int kWordsOfColumns = kGroupWords<typename G::B>;
  static constexpr int kStepWords =
      A::kFragmentsM * 2 * kWordsOfRows + A::kFragmentsN * kWordsOfColumns;
  static constexpr int kFits =
      kStepWords < G::kOperandWords ? G::kOperandWords / kStepWords : 1;
  static constexpr bool kPaired = (G::A::kOctet || G::B::kOctet) && !kIsWideQuad<typename G::A> &&
                                  !kIsWideQuad<typename G::B> && G::kK % 32 == 0 &&
                                  kSteps % (2 * G::kSplitK) == 0 && kFits > 1;
  static constexpr int kPitch = kPaired ? 8 : 4;
  static constexpr int kRoom = kPaired ? kFits / 2 * 2 : kFits;
  static constexpr int kBatch = kRoom < kShare ? kRoom : kShare;  // steps under way at once
  static constexpr bool kWholeK =
      G::kK % 16 == 0 && kSteps % G::kSplitK == 0 && kShare % kBatch == 0;

  template <bool kEarly, class Buffers>
  WHET_MEMBER void fetch(const Buffers& b, int m0, int n0, int first) {
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      if constexpr (G::A::kEarly == kEarly) {
        fetch_operand<typename G::A, A::kWordsA>(rows_, b, m0 + A::m_of_warp(), first, s);
      }
      if constexpr (G::B::kEarly == kEarly) {
        fetch_operand<typename G::B, A::kWordsB>(columns_, b, n0 + A::n_of_warp(), first, s);
      }
    }
  }

  /// Step `s` of the batch from step `first` on, or its pair with the first of the two.
  template <class O, int W, int kBlocks, int kWords, class Buffers>
  WHET_MEMBER static void fetch_operand(
      u32 (&to)[kBatch][kBlocks][kWords], const Buffers& b, int row, int first, int s
  ) {
    if constexpr (kPaired) {
      const int k = ((first + s) / 2 * G::kSplitK + A::group()) * 32;
      if constexpr (O::kOctet) {
        if (s % 2 == 0) load_octets<G, O, kWholeK>(to[s], to[s + 1], b, row, k);
      } else {
        load_operand<G, O, W, kPitch, kWholeK>(to[s], b, row, k + s % 2 * 4);
      }
    } else {
      const int k = ((first + s) * G::kSplitK + A::group()) * 16;
      load_operand<G, O, W, kPitch, kWholeK>(to[s], b, row, k);
    }
  }

  /// Adds the products of step `s` of the batch.
  WHET_MEMBER void multiply(MmaAccumulator<G>& acc, int s) const {
    u32 columns[A::kFragmentsN][2];
#pragma unroll
    for (int j = 0; j < A::kFragmentsN; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        columns[j][half] = fragment_of<G, typename G::B>(columns_[s][j], half);
      }
    }
#pragma unroll
    for (int i = 0; i < A::kFragmentsM; ++i) {
      u32 rows[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        rows[r] = fragment_of<G, typename G::A>(rows_[s][2 * i + r % 2], r / 2);
      }
#pragma unroll
      for (int j = 0; j < A::kFragmentsN; ++j) {
        mma_m16n8k16(acc.c[i][j], rows, columns[j], typename G::Element{});
      }
    }
  }

  u32 rows_[kBatch][A::kFragmentsM * 2][kWordsOfRows];
  u32 columns_[kBatch][A::kFragmentsN][kWordsOfColumns];
};

/// Elements k to k + 3 of a thread's kCount rows, which `row_of` names and of which kRun each are
/// neighbours.
template <class G, class O, int kRun, bool kWholeK, int kCount, class Buffers, class RowOf>
WHET_DEVICE void load_quads(
    float (&to)[4][kCount], const Buffers& b, const RowOf& row_of, int k
) {
  if constexpr (O::kQuad) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      u32 words[4] = {};
      if (is_row<O>(row_of(i)) && is_k<G, kWholeK>(k)) load_words(words, O::address(b, row_of(i), k));
#pragma unroll
      for (int e = 0; e < 4; ++e) to[e][i] = f32_from_bits(words[e]);
    }
  } else {
    constexpr int kWords = O::kRun < kRun ? O::kRun : kRun;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int i = 0; i < kCount; i += kWords) {
        const bool is_there = is_row<O>(row_of(i)) && is_k<G, kWholeK>(k + e);
        if constexpr (kWords > 1) {
          u32 words[kWords] = {};
          if (is_there) load_words(words, O::address(b, row_of(i), k + e));
#pragma unroll
          for (int w = 0; w < kWords; ++w) to[e][i + w] = f32_from_bits(words[w]);
        } else {
          const float value = is_there ? O::at(b, row_of(i), k + e) : 0.0f;
          to[e][i] = rounded_to<typename G::Element>(value);
        }
      }
    }
  }
}

/// A product by plain fma, in steps of four elements of K. Several are under way: where one was
/// multiplied, the next is fetched.
template <class G>
class Multiplication<G, SimtAccumulator<G>> {
 public:
  /// Fetches what is early of the first steps.
  template <class Buffers>
  WHET_MEMBER void begin(const Buffers& b, int m0, int n0) {
#pragma unroll
    for (int s = 0; s < kBatch; ++s) fetch<true>(b, m0, n0, s, s);
  }
  /// Behind begin().
  template <class Buffers>
  WHET_MEMBER void run(SimtAccumulator<G>& acc, const Buffers& b, int m0, int n0) {
#pragma unroll
    for (int s = 0; s < kBatch; ++s) fetch<false>(b, m0, n0, s, s);
#pragma unroll 1
    for (int first = 0; first < kShare; first += kBatch) {
#pragma unroll
      for (int s = 0; s < kBatch; ++s) {
        if (kShare % kBatch != 0 && first + s >= kShare) break;
#pragma unroll
        for (int e = 0; e < 4; ++e) acc.add(rows_[s][e], columns_[s][e]);
        const int next = first + kBatch + s;
        if (next < kShare) {
          fetch<true>(b, m0, n0, next, s);
          fetch<false>(b, m0, n0, next, s);
        }
      }
    }
  }

 private:
  using A = SimtAccumulator<G>;
  static constexpr int kSteps = (G::kK + 3) / 4;
  static constexpr int kShare = (kSteps + G::kSplitK - 1) / G::kSplitK;
  static constexpr int kStepWords = 4 * (G::kThreadM + G::kThreadN);
  static constexpr int kFits = kStepWords < G::kOperandWords ? G::kOperandWords / kStepWords : 1;
  static constexpr int kBatch = kFits < kShare ? kFits : kShare;  // steps under way at once
  static constexpr bool kWholeK =
      G::kK % 4 == 0 && kSteps % G::kSplitK == 0;

  /// Fetches step `step` of this thread's group to place `s`.
  template <bool kEarly, class Buffers>
  WHET_MEMBER void fetch(const Buffers& b, int m0, int n0, int step, int s) {
    const int k = (step * G::kSplitK + A::group()) * 4;
    if constexpr (G::A::kEarly == kEarly) {
      const auto row_of = [&](int i) { return m0 + A::row(i); };
      load_quads<G, typename G::A, A::kRunM, kWholeK>(rows_[s], b, row_of, k);
    }
    if constexpr (G::B::kEarly == kEarly) {
      const auto row_of = [&](int i) { return n0 + A::column(i); };
      load_quads<G, typename G::B, A::kRunN, kWholeK>(columns_[s], b, row_of, k);
    }
  }

  float rows_[kBatch][4][G::kThreadM];
  float columns_[kBatch][4][G::kThreadN];
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
    Epilogue<G, InRegisters<G, Accumulator>> epilogue;
    if (!Accumulator::is_spare()) {
      multiplication.begin(b, m0, n0);
      if constexpr (G::kEarly) epilogue.begin(b, m0, n0);
    }
    // All lanes of a warp together: those that are spare too.
    if (!edge.wait() || Accumulator::is_spare()) return;
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
