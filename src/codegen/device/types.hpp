// Element types, conversions and the scalar functions of ops, for every target. Emitted text opens
// with this file, so it includes nothing and compiles with NVRTC and the host compiler alike. On a
// host each conversion is branch-free, so that the compiler vectorises loops over it.
#if defined(__CUDACC__)
#define WHET_DEVICE __device__ __forceinline__
#define WHET_MEMBER __device__ __forceinline__
#else
#define WHET_DEVICE static inline __attribute__((always_inline))
#define WHET_MEMBER inline __attribute__((always_inline))
#endif

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;
static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8, "widths of the integers");

struct bf16 {
  u16 bits;
};
struct f16 {
  u16 bits;
};
/// 8 and 16 bytes, moved by one access.
struct alignas(8) u32x2 {
  u32 x, y;
};
struct alignas(16) u32x4 {
  u32 x, y, z, w;
};

#if defined(__CUDACC__)
WHET_DEVICE u32 bits_of(float value) { return __float_as_uint(value); }
WHET_DEVICE float f32_from_bits(u32 bits) { return __uint_as_float(bits); }

// Bodies in cuda.cuh: one instruction each. A NaN becomes 0x7fff.
WHET_DEVICE u16 bf16_bits(float value);
WHET_DEVICE u16 f16_bits(float value);
WHET_DEVICE float f32_of_f16_bits(u16 bits);
WHET_DEVICE u32 pack_bf16(float lo, float hi);
WHET_DEVICE u32 pack_f16(float lo, float hi);
#else
WHET_DEVICE u32 bits_of(float value) { return __builtin_bit_cast(u32, value); }
WHET_DEVICE float f32_from_bits(u32 bits) { return __builtin_bit_cast(float, bits); }

/// Round to nearest even; every NaN becomes the quiet one with the sign kept.
WHET_DEVICE u16 bf16_bits(float value) {
  const u32 bits = bits_of(value);
  const u32 rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const u32 nan = ((bits >> 16) & 0x8000u) | 0x7fc0u;
  return static_cast<u16>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

// The two functions below hold no `?:` after float arithmetic: the compiler would sink the
// arithmetic into a branch, which it then cannot vectorise.

/// As bf16_bits, for IEEE binary16 with its subnormals. 2^(e+13) in f32 has the last place of an
/// f16 of exponent e, so adding it rounds, and subtracting its bits leaves the significand.
WHET_DEVICE u16 f16_bits(float value) {
  const u32 bits = bits_of(value);
  const u32 magnitude = bits & 0x7fffffffu;
  const u32 clamped = magnitude < 0x47800000u ? magnitude : 0x47800000u;  // 2^16: infinity
  const u32 exponent = clamped & 0x7f800000u;
  const u32 place = exponent > 0x38800000u ? exponent : 0x38800000u;  // 2^-14: below, subnormals
  const u32 magic = place + 0x06800000u;
  const u32 significand = bits_of(f32_from_bits(clamped) + f32_from_bits(magic)) - magic;
  const u32 nan = static_cast<u32>(magnitude > 0x7f800000u) << 9;
  const u32 result = ((place - 0x38800000u) >> 13) + significand;
  return static_cast<u16>(result | nan | ((bits >> 16) & 0x8000u));
}

/// A subnormal is read as 2^-14 (1 + fraction), from which 2^-14 is subtracted.
WHET_DEVICE float f32_of_f16_bits(u16 half_bits) {
  const u32 magnitude = half_bits & 0x7fffu;
  const u32 is_subnormal = magnitude < 0x400u;
  const u32 is_special = magnitude >= 0x7c00u;
  const u32 scaled = (magnitude << 13) + 0x38000000u + (is_subnormal << 23);
  const u32 excess = (0u - is_subnormal) & 0x38800000u;
  const u32 finite = bits_of(f32_from_bits(scaled) - f32_from_bits(excess));
  const u32 sign = static_cast<u32>(half_bits & 0x8000u) << 16;
  return f32_from_bits(finite | ((0u - is_special) & 0x7f800000u) | sign);
}

WHET_DEVICE u32 pack_bf16(float lo, float hi) {
  return bf16_bits(lo) | (static_cast<u32>(bf16_bits(hi)) << 16);
}
WHET_DEVICE u32 pack_f16(float lo, float hi) {
  return f16_bits(lo) | (static_cast<u32>(f16_bits(hi)) << 16);
}

// CUDA has this one built in.
WHET_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#endif

WHET_DEVICE float to_f32(float value) { return value; }
WHET_DEVICE float to_f32(bf16 value) { return f32_from_bits(static_cast<u32>(value.bits) << 16); }
WHET_DEVICE float to_f32(f16 value) { return f32_of_f16_bits(value.bits); }

WHET_DEVICE float convert_f32(float value, float) { return value; }
WHET_DEVICE bf16 convert_f32(float value, bf16) { return bf16{bf16_bits(value)}; }
WHET_DEVICE f16 convert_f32(float value, f16) { return f16{f16_bits(value)}; }
/// Rounds to nearest even.
template <class T>
WHET_DEVICE T from_f32(float value) {
  return convert_f32(value, T{});
}

/// As f32 again.
template <class T>
WHET_DEVICE float rounded_to(float value) {
  return to_f32(from_f32<T>(value));
}
/// A pair whose low half is zero is the f32: one instruction on a GPU.
WHET_DEVICE float round_bf16(float value) { return f32_from_bits(pack_bf16(0.0f, value)); }
WHET_DEVICE float round_f16(float value) { return rounded_to<f16>(value); }

WHET_DEVICE u32 pack_as(float lo, float hi, bf16) { return pack_bf16(lo, hi); }
WHET_DEVICE u32 pack_as(float lo, float hi, f16) { return pack_f16(lo, hi); }
/// Two elements in one word, `lo` in the low half, that is, first in memory.
template <class T>
WHET_DEVICE u32 pack2(float lo, float hi) {
  return pack_as(lo, hi, T{});
}

/// ATen's relu on a CPU: max(value, 0), which keeps NaN and -0.
WHET_DEVICE float relu(float value) { return value < 0.0f ? 0.0f : value; }

/// ATen's threshold_backward: a NaN in `self` lets the gradient through.
WHET_DEVICE float threshold_backward(float grad, float self, float threshold) {
  return self <= threshold ? 0.0f : grad;
}

#if defined(__CUDACC__)
WHET_DEVICE float square_root(float value) { return __fsqrt_rn(value); }
WHET_DEVICE float power_general(float base, float exponent) { return powf(base, exponent); }
#else
WHET_DEVICE float square_root(float value) { return __builtin_sqrtf(value); }
WHET_DEVICE float power_general(float base, float exponent) {
  return __builtin_powf(base, exponent);
}
#endif

/// ATen's pow with a scalar exponent, and its special cases. The exponent is a literal, so that the
/// comparisons vanish. Source: aten/src/ATen/native/Pow.cpp and cpu/PowKernel.cpp.
WHET_DEVICE float power(float base, float exponent) {
  if (exponent == 0.0f) return 1.0f;
  if (exponent == 1.0f) return base;
  if (exponent == 2.0f) return base * base;
  if (exponent == 3.0f) return base * base * base;
  if (exponent == 0.5f) return square_root(base);
  if (exponent == -0.5f) return 1.0f / square_root(base);
  if (exponent == -1.0f) return 1.0f / base;
  if (exponent == -2.0f) return 1.0f / (base * base);
  return power_general(base, exponent);
}
