// Tiles of products. A product is described by a struct G that the emitted text defines:
//   Element                       what operands are rounded to: bf16, f16 or float
//   Team                          whose threads compute a tile: see team.cuh
//   kM, kN, kK                    sizes; kTileM, kTileN, kSplitK: tiling
//   kWarpsM, kWarpsN              of a K group, for tensor cores
//   kThreadM, kThreadN            a thread's share, for plain fma
//   kLanesK                       lanes of a warp, for plain fma, that share its K: 1, 2, 4, 8 or 16
//   A, B                          operands: O::kRows is M or N; O::at(b, row, k) an element as f32;
//                                 O::kRun: 1, or see direct.cuh; so O::kTurned
//   kWidth                        4 or 2 if that many elements from a multiple of it on are all
//                                 there and may be moved at once, else 1
//   Uniform, uniform(b)           what the epilogue reads for all elements
//   kLoads, Loaded<W>             what it reads for a run of W elements along n
//   load<W>(b, m, n, loaded), finish<W>(b, m, n, acc, loaded, uniform, state): what becomes of a run
//   kHeld                         words of state that a thread holds of each element from step to step;
//                                 where not 0: kHeldWords of a tile, load_state<W>(b, m, n, state),
//                                 save_state, and copy_state, which writes copies for others to read
//   kEpilogueWords                registers for what it reads ahead
// staged.cuh and direct.cuh say what else they ask of it. Each of the kSplitK groups of a block's
// threads sums its share of K; the partial tiles meet in shared memory and are added in the order of
// the groups, so results do not depend on timing. Neighbouring lanes share the K of a group where
// kLanesK says so: neighbours read neighbours in memory, and their sums meet in shuffles.

/// Words of two rows each that a lane fetches at once of an operand that lies along its rows, for a
/// warp's `blocks` groups of eight rows; at most `most`.
template <class O>
WHET_DEVICE constexpr int words_of_rows(int blocks, int most) {
  for (int words = O::kTurned ? 1 : O::kRun / 2; words > 1; words /= 2) {
    if (words <= most && blocks % words == 0) return words;
  }
  return 1;
}

/// Tensor cores: a warp holds kFragmentsM x kFragmentsN accumulators of m16n8k16.
template <class G>
struct MmaAccumulator {
  static constexpr int kFragmentsM = G::kTileM / 16 / G::kWarpsM;
  static constexpr int kFragmentsN = G::kTileN / 8 / G::kWarpsN;
  static constexpr int kGroupWarps = G::kWarpsM * G::kWarpsN;
  static constexpr int kWordsA = words_of_rows<typename G::A>(kFragmentsM * 2, 4);
  // With two words, four lanes hold 64 bytes of a row of f32 in accesses of 16: whole sectors. Of 16
  // bits they load as much with four; but what then follows in registers is f32.
  static constexpr bool kIsNarrow = sizeof(typename G::B::Stored) == 2 && G::kSplitK > 1;
  static constexpr int kWordsB = words_of_rows<typename G::B>(kFragmentsN, kIsNarrow ? 4 : 2);
  static constexpr int kRunBlocks = G::kWidth == 4 && kWordsB > 1 ? 2 : 1;  // of eight columns
  static constexpr int kWidth = G::kWidth < 2 * kRunBlocks ? G::kWidth : 2 * kRunBlocks;
  static constexpr int kRuns = kFragmentsM * kFragmentsN * 4 / kWidth;
  static constexpr int kRunsOfBlocks = 4 * kRunBlocks / kWidth;  // of the same columns
  static_assert(kGroupWarps * G::kSplitK * 32 <= G::Team::kSize, "every K group has its warps");

  float c[kFragmentsM][kFragmentsN][4] = {};

  WHET_MEMBER static int group() { return kGroupWarps * 32 == G::Team::kSize ? 0 : G::Team::warp() / kGroupWarps; }
  WHET_MEMBER static int m_of_warp() {
    return G::Team::warp() % kGroupWarps / G::kWarpsN * kFragmentsM * 16;
  }
  WHET_MEMBER static int n_of_warp() { return G::Team::warp() % G::kWarpsN * kFragmentsN * 8; }

  /// Whether this thread's warp is beyond the last K group.
  WHET_MEMBER static bool is_spare() {
    return kGroupWarps * G::kSplitK * 32 < G::Team::kSize && group() >= G::kSplitK;
  }
  WHET_MEMBER static bool is_idle() { return is_spare(); }
  WHET_MEMBER static bool has_runs() { return !is_spare(); }

  /// Row 2 `pair` of the fragments' group `block` of eight rows: `words` groups lie interleaved,
  /// pair by pair, as a lane fetches them.
  WHET_MEMBER static int row_of_pair(int words, int block, int pair) {
    return block / words * words * 8 + pair * words * 2 + block % words * 2;
  }
  // Run i of this thread: fragments, the first of its groups of columns, and its place in those.
  WHET_MEMBER static int fragment_m(int i) { return i * kWidth / 4 / kFragmentsN; }
  WHET_MEMBER static int block_n(int i) {
    return i / kRunsOfBlocks * kRunBlocks % kFragmentsN;
  }
  WHET_MEMBER static int half_m(int i) { return i % kRunsOfBlocks * 2 / kRunsOfBlocks; }

  /// Where run `i` lies in the tile.
  WHET_MEMBER static int run_m(int i) {
    const int row = lane_index() / 4;
    const int block = fragment_m(i) * 2 + half_m(i);
    return m_of_warp() + row_of_pair(kWordsA, block, row / 2) + row % 2;
  }
  WHET_MEMBER static int run_n(int i) {
    return n_of_warp() + row_of_pair(kWordsB, block_n(i), lane_index() % 4) + i * kWidth % 2;
  }
  WHET_MEMBER void run(int i, float (&values)[kWidth]) const {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      values[e] = c[fragment_m(i)][block_n(i) + e / 2][half_m(i) * 2 + (i * kWidth + e) % 2];
    }
  }
};

/// How many of a thread's `share` rows are neighbours: as many as one access moves.
WHET_DEVICE constexpr int neighbours(int share) { return share % 4 == 0 ? 4 : share % 2 == 0 ? 2 : 1; }

/// Plain fma: a thread holds kThreadM x kThreadN elements, in runs of neighbours that are spread over
/// the tile so that neighbouring threads have neighbouring runs. kLanesK neighbouring threads hold
/// sums of the same elements, until they meet: then as many of them as there are elements have a
/// share each, the others none.
template <class G>
struct SimtAccumulator {
  static constexpr int kColumns = G::kTileN / G::kThreadN;
  static constexpr int kRows = G::kTileM / G::kThreadM;
  static constexpr int kGroupThreads = kRows * kColumns * G::kLanesK;
  static constexpr int kElements = G::kThreadM * G::kThreadN;
  static constexpr int kSharers = G::kLanesK < kElements ? G::kLanesK : kElements;
  static constexpr int kOwned = kElements / kSharers;  // elements of a thread behind meet()
  static constexpr int kRunM = neighbours(G::kThreadM);
  static constexpr int kRunN = neighbours(G::kThreadN);
  static constexpr int kMostWide = kOwned < kRunN ? kOwned : kRunN;
  static constexpr int kWidth = G::kWidth < kMostWide ? G::kWidth : kMostWide;
  static constexpr int kRuns = kOwned / kWidth;
  static_assert(kGroupThreads * G::kSplitK <= G::Team::kSize, "every K group has its threads");
  static_assert(32 % G::kLanesK == 0 && kSharers * kOwned == kElements, "lanes have even shares");

  float c[G::kThreadM][G::kThreadN] = {};

  WHET_MEMBER static int group() { return kGroupThreads == G::Team::kSize ? 0 : G::Team::thread() / kGroupThreads; }
  WHET_MEMBER static bool is_spare() {
    return kGroupThreads * G::kSplitK < G::Team::kSize && group() >= G::kSplitK;
  }
  /// Whether this thread has nothing to do: where lanes meet, all of its warp or none.
  WHET_MEMBER static bool is_idle() {
    if constexpr (G::kLanesK == 1) return is_spare();
    return G::Team::warp() * 32 >= kGroupThreads * G::kSplitK;
  }
  WHET_MEMBER static int lane_of_k() { return G::kLanesK == 1 ? 0 : G::Team::thread() % G::kLanesK; }
  /// Whether this thread has a share behind meet().
  WHET_MEMBER static bool has_runs() { return !is_spare() && lane_of_k() < kSharers; }

  /// Where this thread's row or column `i` lies in the tile.
  WHET_MEMBER static int row(int i) {
    const int thread = G::Team::thread() % kGroupThreads / G::kLanesK / kColumns;
    return (i / kRunM * kRows + thread) * kRunM + i % kRunM;
  }
  WHET_MEMBER static int column(int i) {
    const int thread = G::Team::thread() / G::kLanesK % kColumns;
    return (i / kRunN * kColumns + thread) * kRunN + i % kRunN;
  }

  /// The lanes that share K add their sums, all lanes of a warp together. While a lane has more than
  /// its share, it hands half of what is left to its partner for the other half.
  WHET_MEMBER void meet() {
#pragma unroll
    for (int mask = kSharers / 2; mask > 0; mask /= 2) {
      const bool is_upper = (lane_of_k() & mask) != 0;
#pragma unroll
      for (int i = 0; i < kOwned * mask; ++i) {
        const float lower = sum(i);
        const float upper = sum(i + kOwned * mask);
        sum(i) = (is_upper ? upper : lower) + shuffle_xor(is_upper ? lower : upper, mask);
      }
    }
#pragma unroll
    for (int mask = kSharers; mask < G::kLanesK; mask *= 2) {
#pragma unroll
      for (int i = 0; i < kOwned; ++i) sum(i) += shuffle_xor(sum(i), mask);
    }
  }

  // Run i of this thread's share.
  WHET_MEMBER static int element_of_run(int i) { return lane_of_k() % kSharers * kOwned + i * kWidth; }
  WHET_MEMBER static int run_m(int i) { return row(element_of_run(i) / G::kThreadN); }
  WHET_MEMBER static int run_n(int i) { return column(element_of_run(i) % G::kThreadN); }
  WHET_MEMBER void run(int i, float (&values)[kWidth]) const {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      values[e] = c[(i * kWidth + e) / G::kThreadN][(i * kWidth + e) % G::kThreadN];
    }
  }
  /// Adds the products of one element of K.
  WHET_MEMBER void add(const float (&of_rows)[G::kThreadM], const float (&of_columns)[G::kThreadN]) {
#pragma unroll
    for (int i = 0; i < G::kThreadM; ++i) {
#pragma unroll
      for (int j = 0; j < G::kThreadN; ++j) c[i][j] = fma(of_rows[i], of_columns[j], c[i][j]);
    }
  }

 private:
  WHET_MEMBER float& sum(int i) { return c[i / G::kThreadN][i % G::kThreadN]; }
};

/// Elements that stay in the registers that summed them.
template <class G, class Accumulator>
struct InRegisters {
  static constexpr int kWidth = Accumulator::kWidth;
  static constexpr int kRuns = Accumulator::kRuns;
  WHET_MEMBER static bool has_run(int) { return Accumulator::has_runs(); }
  WHET_MEMBER static int run_m(int i) { return Accumulator::run_m(i); }
  WHET_MEMBER static int run_n(int i) { return Accumulator::run_n(i); }
};

/// Partial tiles of all K groups in shared memory, summed by whichever thread has the run.
template <class G, class Accumulator>
struct InShared {
  static constexpr int kWidth = G::kWidth;
  static constexpr int kTileRuns = G::kTileM * G::kTileN / kWidth;
  static constexpr int kRuns = (kTileRuns + G::Team::kSize - 1) / G::Team::kSize;
  static constexpr int kPitch = G::kTileN + 4;

  static constexpr bool kAllHaveRuns = kTileRuns % G::Team::kSize == 0;
  WHET_MEMBER static bool has_run(int i) {
    return kAllHaveRuns || i * G::Team::kSize + G::Team::thread() < kTileRuns;
  }
  WHET_MEMBER static int run_m(int i) {
    return (i * G::Team::kSize + G::Team::thread()) / (G::kTileN / kWidth);
  }
  WHET_MEMBER static int run_n(int i) {
    return (i * G::Team::kSize + G::Team::thread()) % (G::kTileN / kWidth) * kWidth;
  }
  WHET_MEMBER static void share(float* partial, const Accumulator& acc) {
    if (!Accumulator::has_runs()) return;
#pragma unroll
    for (int i = 0; i < Accumulator::kRuns; ++i) {
      const int row = Accumulator::group() * G::kTileM + Accumulator::run_m(i);
      float values[Accumulator::kWidth];
      acc.run(i, values);
      store_run(partial + row * kPitch + Accumulator::run_n(i), values);
    }
  }
  WHET_MEMBER static void sum(const float* partial, int i, float (&values)[kWidth]) {
    const float* from = partial + run_m(i) * kPitch + run_n(i);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) values[e] = 0.0f;
#pragma unroll
    for (int group = 0; group < G::kSplitK; ++group) {
      Run<float, kWidth> more;
      more.load(from + group * G::kTileM * kPitch);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) values[e] += more[e];
    }
  }
};

/// The epilogue over a thread's runs, a batch at a time: what a batch reads is under way before its
/// first store, which the compiler could not move it across. The first batch is fetched before the
/// product, whose time hides it.
template <class G, class Place>
struct Epilogue {
  static constexpr int kWidth = Place::kWidth;
  static constexpr int kRunLoads = kWidth * (G::kLoads > 0 ? G::kLoads : 1);
  static constexpr int kFits = kRunLoads < G::kEpilogueWords ? G::kEpilogueWords / kRunLoads : 1;
  static constexpr int kBatch = kFits < Place::kRuns ? kFits : Place::kRuns;

  typename G::Uniform uniform;
  typename G::template Loaded<kWidth> loaded[kBatch];

  static constexpr bool kWholeRounds = Place::kRuns % kBatch == 0;
  static constexpr bool kWholeM = G::kM % G::kTileM == 0;
  static constexpr bool kWholeN = G::kN % G::kTileN == 0;
  WHET_MEMBER static bool is_valid(int i, int m, int n) {
    return (kWholeRounds || i < Place::kRuns) && Place::has_run(i) && (kWholeM || m < G::kM) &&
           (kWholeN || n < G::kN);
  }
  template <class Buffers>
  WHET_MEMBER void fetch(const Buffers& b, int m0, int n0, int first) {
    if constexpr (G::kLoads > 0) {
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int m = m0 + Place::run_m(first + i);
        const int n = n0 + Place::run_n(first + i);
        if (is_valid(first + i, m, n)) G::template load<kWidth>(b, m, n, loaded[i]);
      }
    }
  }
  /// Before the product: its time hides these loads.
  template <class Buffers>
  WHET_MEMBER void begin(const Buffers& b, int m0, int n0) {
    uniform = G::uniform(b);
    fetch(b, m0, n0, 0);
  }
  /// `sum(i, values)` gives the product's elements of run `i`. `state` is what the thread holds of
  /// the tile.
  template <class Buffers, class Sum>
  WHET_MEMBER void finish(const Buffers& b, int m0, int n0, const Sum& sum, float* state) {
#pragma unroll
    for (int first = 0; first < Place::kRuns; first += kBatch) {
      if (first > 0) fetch(b, m0, n0, first);
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int m = m0 + Place::run_m(first + i);
        const int n = n0 + Place::run_n(first + i);
        if (!is_valid(first + i, m, n)) continue;
        float values[kWidth];
        sum(first + i, values);
        float* const held = state + (first + i) * G::kHeld * kWidth;
        G::template finish<kWidth>(b, m, n, values, loaded[i], uniform, held);
      }
    }
  }
};

/// The second half of a tile whose partial sums go through shared memory. The caller has seen to it
/// that nobody reads `shared` any more, and that the team meets before it is used again.
template <class G, class Accumulator, class Buffers>
WHET_DEVICE void finish_in_shared(
    const Buffers& b,
    char* shared,
    const Accumulator& acc,
    int m0,
    int n0,
    Epilogue<G, InShared<G, Accumulator>>& epilogue,
    float* state
) {
  using Place = InShared<G, Accumulator>;
  auto* const partial = reinterpret_cast<float*>(shared);
  Place::share(partial, acc);
  G::Team::barrier();
  const auto sum = [&](int i, float(&values)[Place::kWidth]) { Place::sum(partial, i, values); };
  epilogue.finish(b, m0, n0, sum, state);
}

/// Where the epilogue has a tile's elements.
template <class G, class Accumulator, bool kIsShared = (G::kSplitK > 1)>
struct PlaceOf {
  using Type = InRegisters<G, Accumulator>;
};
template <class G, class Accumulator>
struct PlaceOf<G, Accumulator, true> {
  using Type = InShared<G, Accumulator>;
};

/// What a thread holds of a tile's elements: `visit(m, n, state)` for each of its runs.
template <class G, class Place, class Visit>
WHET_DEVICE void for_each_held(int tile, float* state, const Visit& visit) {
  constexpr int kTilesN = (G::kN + G::kTileN - 1) / G::kTileN;
  static_assert(Place::kRuns * Place::kWidth * G::kHeld == G::kHeldWords, "as the schedule counts");
#pragma unroll
  for (int i = 0; i < Place::kRuns; ++i) {
    const int m = tile / kTilesN * G::kTileM + Place::run_m(i);
    const int n = tile % kTilesN * G::kTileN + Place::run_n(i);
    if (Epilogue<G, Place>::is_valid(i, m, n)) visit(m, n, state + i * G::kHeld * Place::kWidth);
  }
}
/// Takes what a tile holds from memory, and makes its copies.
template <class G, class Accumulator, class Buffers>
WHET_DEVICE void hold_state(const Buffers& b, int tile, float* state) {
  using Place = typename PlaceOf<G, Accumulator>::Type;
  for_each_held<G, Place>(tile, state, [&](int m, int n, float* held) {
    G::template load_state<Place::kWidth>(b, m, n, held);
  });
  for_each_held<G, Place>(tile, state, [&](int m, int n, const float* held) {
    G::template copy_state<Place::kWidth>(b, m, n, held);
  });
}
/// Gives it back.
template <class G, class Accumulator, class Buffers>
WHET_DEVICE void save_state(const Buffers& b, int tile, float* state) {
  using Place = typename PlaceOf<G, Accumulator>::Type;
  for_each_held<G, Place>(tile, state, [&](int m, int n, const float* held) {
    G::template save_state<Place::kWidth>(b, m, n, held);
  });
}
