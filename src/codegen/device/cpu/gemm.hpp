// Products on the CPU target: f32 operands, register tiles of kRows rows by kVectors vectors. The
// emitted text defines kVectorBytes and kColumnVectors before this file.

typedef float vec __attribute__((vector_size(kVectorBytes)));
typedef float unaligned_vec __attribute__((vector_size(kVectorBytes), aligned(4)));
constexpr i64 kLanes = kVectorBytes / 4;

WHET_DEVICE vec load_vec(const float* from) {
  return *reinterpret_cast<const unaligned_vec*>(from);
}
WHET_DEVICE void store_vec(float* to, vec value) { *reinterpret_cast<unaligned_vec*>(to) = value; }

/// a * b + c with one rounding.
template <class Vector>
WHET_DEVICE Vector fused(Vector a, Vector b, Vector c) {
  for (i64 lane = 0; lane < kLanes; ++lane) c[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  return c;
}
// GCC does not turn the loop above into one instruction; where the machine has it, name it.
#if defined(__AVX512F__) && !defined(__clang__)
typedef float vec_512 __attribute__((vector_size(64)));
WHET_DEVICE vec_512 fused(vec_512 a, vec_512 b, vec_512 c) {
  return __builtin_ia32_vfmaddps512_mask(a, b, c, static_cast<u16>(0xffff), 4);
}
#endif
#if defined(__FMA__) && !defined(__clang__)
typedef float vec_256 __attribute__((vector_size(32)));
WHET_DEVICE vec_256 fused(vec_256 a, vec_256 b, vec_256 c) {
  return __builtin_ia32_vfmaddps256(a, b, c);
}
#endif

template <int kRows, int kVectors>
WHET_DEVICE void multiply_block(
    float* acc, i64 acc_row, const float* a, i64 a_row, i64 a_k, const float* b, i64 b_k, i64 k
) {
  vec c[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) c[r][v] = vec{};
  }
  for (i64 i = 0; i < k; ++i) {
    vec row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) row[v] = load_vec(b + i * b_k + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const vec scale = vec{} + a[r * a_row + i * a_k];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) c[r][v] = fused(scale, row[v], c[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) store_vec(acc + r * acc_row + v * kLanes, c[r][v]);
  }
}

template <int kRows, int kVectors>
static __attribute__((noinline)) void multiply_columns(
    float* acc,
    i64 acc_row,
    const float* a,
    i64 a_row,
    i64 a_k,
    const float* b,
    i64 b_k,
    i64 rows,
    i64 k
) {
  i64 m = 0;
  for (; m + kRows <= rows; m += kRows) {
    multiply_block<kRows, kVectors>(
        acc + m * acc_row, acc_row, a + m * a_row, a_row, a_k, b, b_k, k
    );
  }
  for (; m < rows; ++m) {
    multiply_block<1, kVectors>(acc + m * acc_row, acc_row, a + m * a_row, a_row, a_k, b, b_k, k);
  }
}

/// acc[rows, columns] = a b over k, with `columns` a multiple of kLanes. Element (m, k) of a is at
/// m * a_row + k * a_k; rows of b, b_k apart, are contiguous.
template <int kRows>
static void multiply(
    float* acc,
    i64 acc_row,
    const float* a,
    i64 a_row,
    i64 a_k,
    const float* b,
    i64 b_k,
    i64 rows,
    i64 columns,
    i64 k
) {
  i64 n = 0;
  for (; n + kColumnVectors * kLanes <= columns; n += kColumnVectors * kLanes) {
    multiply_columns<kRows, kColumnVectors>(acc + n, acc_row, a, a_row, a_k, b + n, b_k, rows, k);
  }
  for (; n < columns; n += kLanes) {
    multiply_columns<kRows, 1>(acc + n, acc_row, a, a_row, a_k, b + n, b_k, rows, k);
  }
}
