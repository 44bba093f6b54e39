// Products whose operands are staged in shared memory by the whole block, several K tiles ahead.
// Besides what gemm.cuh says, G has
//   kTileK, kStages, kSkew        K elements of a stage, stages, padding elements of a staged line
// and an operand has
//   kAlongK                       whether its contiguous index is k
//   kAsync                        whether 16-byte asynchronous copies may fetch it
//   address(b, row, k)            where an element lies, if they may

/// How a stage holds operand O, of which it has kTile rows: as memory does, row by row along k or
/// along the operand's rows.
template <class G, class O, int kTile>
struct StagedOperand {
  static constexpr int kLines = O::kAlongK ? kTile : G::kTileK;
  static constexpr int kLine = O::kAlongK ? G::kTileK : kTile;
  static constexpr int kPitch = kLine + G::kSkew;
  static constexpr int kChunk = 16 / static_cast<int>(sizeof(typename G::Element));
  static_assert(kPitch % kChunk == 0, "staged lines are 16-byte aligned");
};
template <class G>
using StagedA = StagedOperand<G, typename G::A, G::kTileM>;
template <class G>
using StagedB = StagedOperand<G, typename G::B, G::kTileN>;

/// A stage: operand A, then operand B.
template <class G>
struct Stage {
  static constexpr int kB = StagedA<G>::kLines * StagedA<G>::kPitch;
  static constexpr int kElements = kB + StagedB<G>::kLines * StagedB<G>::kPitch;
  static constexpr int kSteps = (G::kK + G::kTileK - 1) / G::kTileK;
};

template <class G, class O, class S, class Buffers>
WHET_DEVICE void stage_operand(const Buffers& b, typename G::Element* to, int row0, int k0) {
  constexpr int kRun = O::kAsync ? S::kChunk : 1;
  constexpr int kRuns = S::kLine / kRun;
#pragma unroll 4
  for (int i = G::Team::thread(); i < S::kLines * kRuns; i += G::Team::kSize) {
    const int line = i / kRuns;
    const int place = i % kRuns * kRun;
    const int row = row0 + (O::kAlongK ? line : place);
    const int k = k0 + (O::kAlongK ? place : line);
    const bool valid = row < O::kRows && k < G::kK;
    typename G::Element* const element = to + line * S::kPitch + place;
    if constexpr (O::kAsync) {
      cp_async_16(element, O::address(b, valid ? row : 0, valid ? k : 0), valid);
    } else {
      *element = from_f32<typename G::Element>(valid ? O::at(b, row, k) : 0.0f);
    }
  }
}

template <class G>
WHET_DEVICE void load_a(u32 (&r)[4], const typename G::Element* a, int m, int k) {
  constexpr int kPitch = StagedA<G>::kPitch;
  const int l = lane_index();
  if constexpr (G::A::kAlongK) {
    ldmatrix_x4(r, a + (m + l % 16) * kPitch + k + l / 16 * 8);
  } else {
    ldmatrix_x4_trans(r, a + (k + l % 8 + l / 16 * 8) * kPitch + m + l / 8 % 2 * 8);
  }
}

template <class G>
WHET_DEVICE void load_b(u32 (&r)[2], const typename G::Element* b, int n, int k) {
  constexpr int kPitch = StagedB<G>::kPitch;
  const int l = lane_index() % 16;  // x2 takes the addresses of the first sixteen lanes
  if constexpr (G::B::kAlongK) {
    ldmatrix_x2(r, b + (n + l % 8) * kPitch + k + l / 8 * 8);
  } else {
    ldmatrix_x2_trans(r, b + (k + l) * kPitch + n);
  }
}

template <class G>
WHET_DEVICE void multiply_staged(MmaAccumulator<G>& acc, const typename G::Element* stage) {
  using A = MmaAccumulator<G>;
  static_assert(G::kTileK % (16 * G::kSplitK) == 0, "every K group has a share");
  const typename G::Element* a = stage;
  const typename G::Element* b = stage + Stage<G>::kB;
#pragma unroll
  for (int step = 0; step < G::kTileK / 16 / G::kSplitK; ++step) {
    const int k = (step * G::kSplitK + A::group()) * 16;
    u32 fragment_a[A::kFragmentsM][4];
    u32 fragment_b[A::kFragmentsN][2];
#pragma unroll
    for (int i = 0; i < A::kFragmentsM; ++i) load_a<G>(fragment_a[i], a, A::m_of_warp() + i * 16, k);
#pragma unroll
    for (int j = 0; j < A::kFragmentsN; ++j) load_b<G>(fragment_b[j], b, A::n_of_warp() + j * 8, k);
#pragma unroll
    for (int i = 0; i < A::kFragmentsM; ++i) {
#pragma unroll
      for (int j = 0; j < A::kFragmentsN; ++j) {
        mma_m16n8k16(acc.c[i][j], fragment_a[i], fragment_b[j], typename G::Element{});
      }
    }
  }
}

/// Element `k` of a thread's kCount rows, which `row_of` names and of which kRun each are neighbours.
template <class O, class S, int kRun, int kCount, class Element, class RowOf>
WHET_DEVICE void load_staged(
    float (&to)[kCount], const Element* operand, const RowOf& row_of, int k
) {
#pragma unroll
  for (int i = 0; i < kCount; i += O::kAlongK ? 1 : kRun) {
    if constexpr (O::kAlongK) {
      to[i] = to_f32(operand[row_of(i) * S::kPitch + k]);
    } else {
      Run<Element, kRun> run;
      run.load(operand + k * S::kPitch + row_of(i));
#pragma unroll
      for (int e = 0; e < kRun; ++e) to[i + e] = run[e];
    }
  }
}

template <class G>
WHET_DEVICE void multiply_staged(SimtAccumulator<G>& acc, const typename G::Element* stage) {
  using A = SimtAccumulator<G>;
#pragma unroll 4
  for (int k = A::group(); k < G::kTileK; k += G::kSplitK) {
    float rows[G::kThreadM];
    float columns[G::kThreadN];
    load_staged<typename G::A, StagedA<G>, A::kRunM>(rows, stage, [](int i) { return A::row(i); }, k);
    load_staged<typename G::B, StagedB<G>, A::kRunN>(
        columns, stage + Stage<G>::kB, [](int i) { return A::column(i); }, k
    );
    acc.add(rows, columns);
  }
}

/// One tile of a product, from memory to its epilogue.
template <class G, class Accumulator, class Buffers>
WHET_DEVICE void staged_tile(const Buffers& b, char* shared, int tile) {
  using S = Stage<G>;
  constexpr int kTilesN = (G::kN + G::kTileN - 1) / G::kTileN;
  const int m0 = tile / kTilesN * G::kTileM;
  const int n0 = tile % kTilesN * G::kTileN;
  auto* const stages = reinterpret_cast<typename G::Element*>(shared);
  const auto fetch = [&](int step) {
    typename G::Element* to = stages + step % G::kStages * S::kElements;
    stage_operand<G, typename G::A, StagedA<G>>(b, to, m0, step * G::kTileK);
    stage_operand<G, typename G::B, StagedB<G>>(b, to + S::kB, n0, step * G::kTileK);
  };

  Accumulator acc;
#pragma unroll
  for (int step = 0; step < G::kStages - 1; ++step) {
    if (step < S::kSteps) fetch(step);
    cp_async_commit();
  }
  Epilogue<G, InShared<G, Accumulator>> epilogue;
  epilogue.begin(b, m0, n0);
  for (int step = 0; step < S::kSteps; ++step) {
    if constexpr (G::kStages == 1) {
      fetch(step);
      cp_async_commit();
      cp_async_wait<0>();
      G::Team::barrier();
      multiply_staged<G>(acc, stages);
      G::Team::barrier();
    } else {
      cp_async_wait<G::kStages - 2>();
      G::Team::barrier();  // also: all have read the stage that is fetched into next
      if (step + G::kStages - 1 < S::kSteps) fetch(step + G::kStages - 1);
      cp_async_commit();
      multiply_staged<G>(acc, stages + step % G::kStages * S::kElements);
    }
  }
  if constexpr (G::kStages > 1) G::Team::barrier();

  finish_in_shared<G>(b, shared, acc, m0, n0, epilogue, nullptr);
}
