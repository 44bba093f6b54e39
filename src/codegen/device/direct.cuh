// Products whose operands go from memory to registers, each thread fetching what it multiplies: no
// staging and no barrier before the partial sums. Besides what gemm.cuh says, an operand has
//   kQuad                         whether elements k to k + 3 are neighbours, aligned and all there
//   quad(b, row, k)               those four as two words of Elements

/// Elements (row, k) to (row, k + 3) of operand O as two words; zero outside.
template <class G, class O, class Buffers>
WHET_DEVICE u32x2 fetch_quad(const Buffers& b, int row, int k) {
  if constexpr (O::kQuad) {
    u32x2 quad{0u, 0u};
    if (row < O::kRows && k < G::kK) quad = O::quad(b, row, k);
    return quad;
  } else {
    float values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values[i] = row < O::kRows && k + i < G::kK ? O::at(b, row, k + i) : 0.0f;
    }
    using E = typename G::Element;
    return u32x2{pack2<E>(values[0], values[1]), pack2<E>(values[2], values[3])};
  }
}

/// A product does not ask in which order K is summed, if both operands keep to one: lane l fetches
/// elements 4 (l % 4) to 4 (l % 4) + 3 of a step's sixteen, which are neighbours, and hands them to
/// the mma as its elements 2 (l % 4), the next, 2 (l % 4) + 8, and the next.
template <class G, class Buffers>
WHET_DEVICE void multiply_direct(MmaAccumulator<G>& acc, const Buffers& b, int m0, int n0) {
  using A = MmaAccumulator<G>;
  constexpr int kSteps = (G::kK + 15) / 16;
  constexpr int kShare = (kSteps + G::kSplitK - 1) / G::kSplitK;
  constexpr int kStepWords = A::kFragmentsM * 4 + A::kFragmentsN * 2;
  constexpr int kFits = kStepWords < 64 ? 64 / kStepWords : 1;
  constexpr int kBatch = kFits < kShare ? kFits : kShare;  // steps whose operands are under way
  const int m = m0 + A::m_of_warp() + lane_index() / 4;
  const int n = n0 + A::n_of_warp() + lane_index() / 4;
  for (int first = 0; first < kShare; first += kBatch) {
    u32 fragment_a[kBatch][A::kFragmentsM][4];
    u32 fragment_b[kBatch][A::kFragmentsN][2];
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      const int k = ((first + s) * G::kSplitK + A::group()) * 16 + lane_index() % 4 * 4;
#pragma unroll
      for (int i = 0; i < A::kFragmentsM; ++i) {
        const u32x2 upper = fetch_quad<G, typename G::A>(b, m + i * 16, k);
        const u32x2 lower = fetch_quad<G, typename G::A>(b, m + i * 16 + 8, k);
        fragment_a[s][i][0] = upper.x;
        fragment_a[s][i][1] = lower.x;
        fragment_a[s][i][2] = upper.y;
        fragment_a[s][i][3] = lower.y;
      }
#pragma unroll
      for (int j = 0; j < A::kFragmentsN; ++j) {
        const u32x2 quad = fetch_quad<G, typename G::B>(b, n + j * 8, k);
        fragment_b[s][j][0] = quad.x;
        fragment_b[s][j][1] = quad.y;
      }
    }
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
#pragma unroll
      for (int i = 0; i < A::kFragmentsM; ++i) {
#pragma unroll
        for (int j = 0; j < A::kFragmentsN; ++j) {
          mma_m16n8k16(acc.c[i][j], fragment_a[s][i], fragment_b[s][j], typename G::Element{});
        }
      }
    }
  }
}

template <class E>
WHET_DEVICE float rounded_to(float value) {
  return to_f32(from_f32<E>(value));
}

template <class G, class Buffers>
WHET_DEVICE void multiply_direct(SimtAccumulator<G>& acc, const Buffers& b, int m0, int n0) {
  using A = SimtAccumulator<G>;
  using E = typename G::Element;
#pragma unroll 4
  for (int k = A::group(); k < G::kK; k += G::kSplitK) {
    float value_a[G::kThreadM];
    float value_b[G::kThreadN];
#pragma unroll
    for (int i = 0; i < G::kThreadM; ++i) {
      const int m = m0 + A::row() + i * A::kRows;
      value_a[i] = m < G::kM ? rounded_to<E>(G::A::at(b, m, k)) : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < G::kThreadN; ++j) {
      const int n = n0 + A::column() + j * A::kColumns;
      value_b[j] = n < G::kN ? rounded_to<E>(G::B::at(b, n, k)) : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < G::kThreadM; ++i) {
#pragma unroll
      for (int j = 0; j < G::kThreadN; ++j) acc.c[i][j] = fma(value_a[i], value_b[j], acc.c[i][j]);
    }
  }
}

/// One tile of a product, from memory to its epilogue.
template <class G, class Accumulator, class Buffers>
WHET_DEVICE void direct_tile(const Buffers& b, char* shared, int tile) {
  constexpr int kTilesN = (G::kN + G::kTileN - 1) / G::kTileN;
  const int m0 = tile / kTilesN * G::kTileM;
  const int n0 = tile % kTilesN * G::kTileN;
  Accumulator acc;
  if constexpr (G::kSplitK == 1) {
    if (Accumulator::group() > 0) return;
    Epilogue<G, InRegisters<G, Accumulator>> epilogue;
    epilogue.fetch(b, m0, n0, 0);
    multiply_direct<G>(acc, b, m0, n0);
    epilogue.finish(b, m0, n0, [&](int i, float(&values)[Accumulator::kWidth]) {
      acc.run(i, values);
    });
  } else {
    Epilogue<G, InShared<G, Accumulator>> epilogue;
    epilogue.fetch(b, m0, n0, 0);
    if (Accumulator::group() < G::kSplitK) multiply_direct<G>(acc, b, m0, n0);
    finish_in_shared<G>(b, shared, acc, m0, n0, epilogue);
  }
}
