// Neighbouring elements, moved by one access where memory is aligned to all of them.

struct alignas(4) f16x2_bits {
  u16 x, y;
};
struct alignas(8) f32x2 {
  float x, y;
};
struct alignas(16) f32x4 {
  float x, y, z, w;
};

/// N neighbouring elements as f32.
template <class T>
WHET_DEVICE void load_run(float (&to)[1], const T* from) {
  to[0] = to_f32(from[0]);
}
WHET_DEVICE void load_run(float (&to)[2], const float* from) {
  const f32x2 pair = *reinterpret_cast<const f32x2*>(from);
  to[0] = pair.x;
  to[1] = pair.y;
}
template <class T>
WHET_DEVICE void load_run(float (&to)[2], const T* from) {
  const f16x2_bits pair = *reinterpret_cast<const f16x2_bits*>(from);
  to[0] = to_f32(T{pair.x});
  to[1] = to_f32(T{pair.y});
}

WHET_DEVICE void load_run(float (&to)[4], const float* from) {
  const f32x4 quad = *reinterpret_cast<const f32x4*>(from);
  to[0] = quad.x;
  to[1] = quad.y;
  to[2] = quad.z;
  to[3] = quad.w;
}
template <class T>
WHET_DEVICE void load_run(float (&to)[4], const T* from) {
  const u32x2 quad = *reinterpret_cast<const u32x2*>(from);
  to[0] = to_f32(T{static_cast<u16>(quad.x)});
  to[1] = to_f32(T{static_cast<u16>(quad.x >> 16)});
  to[2] = to_f32(T{static_cast<u16>(quad.y)});
  to[3] = to_f32(T{static_cast<u16>(quad.y >> 16)});
}

template <class T>
WHET_DEVICE void store_run(T* to, const float (&from)[1]) {
  to[0] = from_f32<T>(from[0]);
}
WHET_DEVICE void store_run(float* to, const float (&from)[2]) {
  *reinterpret_cast<f32x2*>(to) = f32x2{from[0], from[1]};
}
template <class T>
WHET_DEVICE void store_run(T* to, const float (&from)[2]) {
  *reinterpret_cast<u32*>(to) = pack2<T>(from[0], from[1]);
}
WHET_DEVICE void store_run(float* to, const float (&from)[4]) {
  *reinterpret_cast<f32x4*>(to) = f32x4{from[0], from[1], from[2], from[3]};
}
template <class T>
WHET_DEVICE void store_run(T* to, const float (&from)[4]) {
  *reinterpret_cast<u32x2*>(to) = u32x2{pack2<T>(from[0], from[1]), pack2<T>(from[2], from[3])};
}

/// 2 W neighbouring elements as W words of 16-bit elements of type E.
template <class E>
WHET_DEVICE void load_words(u32 (&to)[1], const E* from) {
  to[0] = *reinterpret_cast<const u32*>(from);
}
template <class E>
WHET_DEVICE void load_words(u32 (&to)[2], const E* from) {
  const u32x2 words = *reinterpret_cast<const u32x2*>(from);
  to[0] = words.x;
  to[1] = words.y;
}
template <class E>
WHET_DEVICE void load_words(u32 (&to)[4], const E* from) {
  const u32x4 words = *reinterpret_cast<const u32x4*>(from);
  to[0] = words.x;
  to[1] = words.y;
  to[2] = words.z;
  to[3] = words.w;
}
template <class E>
WHET_DEVICE void load_words(u32 (&to)[1], const float* from) {
  const f32x2 pair = *reinterpret_cast<const f32x2*>(from);
  to[0] = pack2<E>(pair.x, pair.y);
}
template <class E, int W>
WHET_DEVICE void load_words(u32 (&to)[W], const float* from) {
#pragma unroll
  for (int w = 0; w < W; w += 2) {
    const f32x4 quad = *reinterpret_cast<const f32x4*>(from + 2 * w);
    to[w] = pack2<E>(quad.x, quad.y);
    to[w + 1] = pack2<E>(quad.z, quad.w);
  }
}

/// Four neighbouring elements as two words of 16-bit elements of type E.
template <class E>
WHET_DEVICE u32x2 load_quad(const E* from) {
  return *reinterpret_cast<const u32x2*>(from);
}
template <class E>
WHET_DEVICE u32x2 load_quad(const float* from) {
  const f32x4 quad = *reinterpret_cast<const f32x4*>(from);
  return u32x2{pack2<E>(quad.x, quad.y), pack2<E>(quad.z, quad.w)};
}
