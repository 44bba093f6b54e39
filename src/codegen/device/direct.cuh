// Products whose operands go from memory to registers, each thread fetching what it multiplies: no
// staging and no barrier before the partial sums. Besides what gemm.cuh says, an operand has
//   kTile                         rows of it in a tile
//   Stored                        type of its elements, or Element if at() is the only way to them
//   kQuad                         whether elements k to k + 3 are neighbours, aligned and all there
//   kOctet                        the same of k to k + 7, in one access of 16 bytes
//   kRun                          how many rows are neighbours at an even row, 1 if not aligned
//   kTurned                       whether it lies along its rows in shared memory, so that ldmatrix
//                                 gives a lane its part
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

/// From an operand that is kTurned: what a lane gets is its part of the fragment.
template <class G, class O, int kPitch, bool kWholeK, int kBlocks, class Buffers>
WHET_DEVICE void load_turned(
    u32 (&to)[kBlocks][kGroupWords<O>], const Buffers& b, int row, int k
) {
  // Lane 8 i + j has the address of row j of matrix i: one k of eight rows of the operand.
  const int half = lane_index() / 8 % 2;
  const int k_of_lane = k + lane_index() % 8 / 2 * kPitch + half * 2 + lane_index() % 2;
  const auto place = [&](int block) {
    const int row_of_lane = row + block * 8;
    const bool is_there = is_row<O>(row_of_lane) && is_k<G, kWholeK>(k_of_lane);
    return O::address(b, is_there ? row_of_lane : 0, is_there ? k_of_lane : 0);
  };
  if constexpr (kBlocks % 2 == 0) {
#pragma unroll
    for (int block = 0; block < kBlocks; block += 2) {
      u32 words[4];
      ldmatrix_x4_trans(words, place(block + lane_index() / 16));
#pragma unroll
      for (int w = 0; w < 4; ++w) to[block + w / 2][w % 2] = words[w];
    }
  } else {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) ldmatrix_x2_trans(to[block], place(block));
  }
  // A product with what the other operand has not is 0 only if this is.
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (is_k<G, kWholeK>(k + lane_index() % 4 * kPitch + h * 2)) continue;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) to[block][h] = 0u;
  }
}

template <class G, class O, int W, int kPitch, bool kWholeK, int kBlocks, class Buffers>
WHET_DEVICE void load_operand(
    u32 (&to)[kBlocks][kGroupWords<O>], const Buffers& b, int row, int k
) {
  if constexpr (O::kTurned) {
    load_turned<G, O, kPitch, kWholeK>(to, b, row, k);
  } else if constexpr (O::kRun > 1) {
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
  return O::kRun > 1 && !O::kTurned ? movmatrix(pair) : pair;
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

/// Four neighbouring elements of K of a thread's kCount rows of operand O, as they are stored.
template <class G, class O, int kRun, int kCount>
class Quads {
 public:
  /// From `k` on. `row_of` names the rows, of which kRun each are neighbours.
  template <bool kWholeK, class Buffers, class RowOf>
  WHET_MEMBER void load(const Buffers& b, const RowOf& row_of, int k) {
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      const int row = row_of(O::kQuad ? r : r * kAcross % kCount);
      const int k_of_run = O::kQuad ? k : k + r * kAcross / kCount;
      runs_[r] = {};
      if (!is_row<O>(row) || !is_k<G, kWholeK>(k_of_run)) continue;
      if constexpr (kLength > 1) {
        runs_[r].load(static_cast<const Stored*>(O::address(b, row, k_of_run)));
      } else {
        runs_[r].set(from_f32<Stored>(O::at(b, row, k_of_run)));
      }
    }
  }
  /// Element k + `e` of row `i`.
  WHET_MEMBER float get(int e, int i) const {
    const int place = e * kCount + i;
    const float value = O::kQuad ? runs_[i % kRuns][e % kLength] : runs_[place / kAcross % kRuns][place % kAcross];
    return is_same_type(Stored{}, Element{}) ? value : rounded_to<Element>(value);
  }

 private:
  using Stored = typename O::Stored;
  using Element = typename G::Element;
  static constexpr int kAcross = O::kRun < kRun ? O::kRun : kRun;  // rows in a run
  static constexpr int kLength = O::kQuad ? 4 : kAcross;
  static constexpr int kRuns = 4 * kCount / kLength;

  Run<Stored, kLength> runs_[kRuns];
};

/// A product by plain fma, in steps of four elements of K. Several are under way: where one was
/// multiplied, the next is fetched. Lanes that share K take neighbouring fours.
template <class G>
class Multiplication<G, SimtAccumulator<G>> {
 public:
  /// Fetches what is early of the first steps.
  template <class Buffers>
  WHET_MEMBER void begin(const Buffers& b, int m0, int n0) {
#pragma unroll
    for (int s = 0; s < kBatch; ++s) fetch<true>(b, m0, n0, s, s);
  }
  /// Behind begin(), in all threads that are not idle.
  template <class Buffers>
  WHET_MEMBER void run(SimtAccumulator<G>& acc, const Buffers& b, int m0, int n0) {
    if (!A::is_spare()) add_steps(acc, b, m0, n0);
    acc.meet();
  }

 private:
  using A = SimtAccumulator<G>;
  using Rows = Quads<G, typename G::A, A::kRunM, G::kThreadM>;
  using Columns = Quads<G, typename G::B, A::kRunN, G::kThreadN>;
  static constexpr int kSteps = (G::kK + 3) / 4;
  static constexpr int kParts = G::kSplitK * G::kLanesK;
  static constexpr int kShare = (kSteps + kParts - 1) / kParts;
  static constexpr int kStepWords = static_cast<int>(sizeof(Rows) + sizeof(Columns)) / 4;
  static constexpr int kFits = kStepWords < G::kOperandWords ? G::kOperandWords / kStepWords : 1;
  static constexpr int kBatch = kFits < kShare ? kFits : kShare;  // steps under way at once
  static constexpr bool kWholeK = G::kK % 4 == 0 && kSteps % kParts == 0;

  template <class Buffers>
  WHET_MEMBER void add_steps(SimtAccumulator<G>& acc, const Buffers& b, int m0, int n0) {
#pragma unroll
    for (int s = 0; s < kBatch; ++s) fetch<false>(b, m0, n0, s, s);
#pragma unroll 1
    for (int first = 0; first < kShare; first += kBatch) {
#pragma unroll
      for (int s = 0; s < kBatch; ++s) {
        if (kShare % kBatch != 0 && first + s >= kShare) break;
        multiply(acc, s);
        const int next = first + kBatch + s;
        if (next < kShare) {
          fetch<true>(b, m0, n0, next, s);
          fetch<false>(b, m0, n0, next, s);
        }
      }
    }
  }

  /// Fetches step `step` of this thread to place `s`.
  template <bool kEarly, class Buffers>
  WHET_MEMBER void fetch(const Buffers& b, int m0, int n0, int step, int s) {
    const int k = ((step * G::kSplitK + A::group()) * G::kLanesK + A::lane_of_k()) * 4;
    if constexpr (G::A::kEarly == kEarly) {
      rows_[s].template load<kWholeK>(b, [&](int i) { return m0 + A::row(i); }, k);
    }
    if constexpr (G::B::kEarly == kEarly) {
      columns_[s].template load<kWholeK>(b, [&](int i) { return n0 + A::column(i); }, k);
    }
  }

  WHET_MEMBER void multiply(SimtAccumulator<G>& acc, int s) const {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float of_rows[G::kThreadM];
      float of_columns[G::kThreadN];
#pragma unroll
      for (int i = 0; i < G::kThreadM; ++i) of_rows[i] = rows_[s].get(e, i);
#pragma unroll
      for (int j = 0; j < G::kThreadN; ++j) of_columns[j] = columns_[s].get(e, j);
      acc.add(of_rows, of_columns);
    }
  }

  Rows rows_[kBatch];
  Columns columns_[kBatch];
};

/// One tile of a product, from memory to its epilogue: what is early is under way while the threads
/// wait for `edge`. `state` is what the thread holds of the tile.
template <class G, class Accumulator, class Buffers, class Edge>
WHET_DEVICE void direct_tile(const Buffers& b, char* shared, int tile, Edge&& edge, float* state) {
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
    if (!edge.wait() || Accumulator::is_idle()) return;
    if constexpr (!G::kEarly) epilogue.begin(b, m0, n0);
    multiplication.run(acc, b, m0, n0);
    const auto sum = [&](int i, float(&values)[Accumulator::kWidth]) { acc.run(i, values); };
    epilogue.finish(b, m0, n0, sum, state);
  } else {
    Epilogue<G, InShared<G, Accumulator>> epilogue;
    if (!Accumulator::is_spare()) multiplication.begin(b, m0, n0);
    if constexpr (G::kEarly) epilogue.begin(b, m0, n0);
    if (!edge.wait()) return;
    if constexpr (!G::kEarly) epilogue.begin(b, m0, n0);
    if (!Accumulator::is_idle()) multiplication.run(acc, b, m0, n0);
    finish_in_shared<G>(b, shared, acc, m0, n0, epilogue, state);
  }
}
