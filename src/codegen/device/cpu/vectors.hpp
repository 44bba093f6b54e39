// The machine's vectors on the CPU target. The emitted text defines kVectorBytes before this file.

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

/// The numbers of the lanes, 0 to kLanes - 1, as a type.
template <int... kLane>
struct Lanes {};
template <int kCount, int... kLane>
struct CountLanes : CountLanes<kCount - 1, kCount - 1, kLane...> {};
template <int... kLane>
struct CountLanes<0, kLane...> {
  using type = Lanes<kLane...>;
};
using AllLanes = CountLanes<kLanes>::type;

/// Exchanges the lanes of `low` whose number has the bit kBit with those of `high` that have not.
template <int kBit, int... kLane>
WHET_DEVICE void exchange(vec& low, vec& high, Lanes<kLane...>) {
  constexpr int kOther = static_cast<int>(kLanes);
  const vec first =
      __builtin_shufflevector(low, high, (kLane & kBit ? kOther + kLane - kBit : kLane)...);
  high = __builtin_shufflevector(low, high, (kLane & kBit ? kOther + kLane : kLane + kBit)...);
  low = first;
}

/// Transposes a square of kLanes rows, by squares half as large each time.
template <int kBit = 1>
WHET_DEVICE void transpose(vec (&rows)[kLanes]) {
#pragma GCC unroll 16
  for (int r = 0; r < kLanes; ++r) {
    if ((r & kBit) == 0) exchange<kBit>(rows[r], rows[r + kBit], AllLanes{});
  }
  if constexpr (kBit * 2 < kLanes) transpose<kBit * 2>(rows);
}
