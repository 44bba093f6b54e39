// Neighbouring elements, moved by one access where memory is aligned to all of them.

struct alignas(8) f32x2 {
  float x, y;
};
struct alignas(16) f32x4 {
  float x, y, z, w;
};

/// N words that are neighbours, by accesses of 16 bytes at most.
template <int N>
WHET_DEVICE void load_words(u32 (&to)[N], const void* from) {
  if constexpr (N == 1) {
    to[0] = *static_cast<const u32*>(from);
  } else if constexpr (N == 2) {
    const u32x2 words = *static_cast<const u32x2*>(from);
    to[0] = words.x;
    to[1] = words.y;
  } else {
#pragma unroll
    for (int w = 0; w < N; w += 4) {
      const u32x4 words = static_cast<const u32x4*>(from)[w / 4];
      to[w] = words.x;
      to[w + 1] = words.y;
      to[w + 2] = words.z;
      to[w + 3] = words.w;
    }
  }
}

/// N neighbouring elements as they are stored: what they are read for converts them, so that
/// nothing waits for them before.
template <class T, int N>
struct Run {
  u32 words[(N * sizeof(T) + 3) / 4];

  WHET_MEMBER void load(const T* from) {
    if constexpr (N * sizeof(T) < 4) {
      words[0] = from[0].bits;
    } else {
      load_words(words, from);
    }
  }
  WHET_MEMBER void set(T value) {
    static_assert(N == 1, "the others stay as they are");
    if constexpr (sizeof(T) == 4) {
      words[0] = bits_of(value);
    } else {
      words[0] = value.bits;
    }
  }
  WHET_MEMBER float operator[](int i) const {
    if constexpr (sizeof(T) == 4) {
      return f32_from_bits(words[i]);
    } else {
      return to_f32(T{static_cast<u16>(words[i / 2] >> (i % 2 * 16))});
    }
  }
};

template <class A, class B>
WHET_DEVICE constexpr bool is_same_type(A, B) {
  return false;
}
template <class A>
WHET_DEVICE constexpr bool is_same_type(A, A) {
  return true;
}

/// Words that a pair of stored elements takes.
template <class T>
constexpr int kPairWords = sizeof(T) / 2;

/// A pair of stored elements as one word of 16-bit elements of type E.
template <class E, class T>
WHET_DEVICE u32 pair_of(const u32* stored) {
  if constexpr (kPairWords<T> == 1) {
    return stored[0];
  } else {
    return pack2<E>(f32_from_bits(stored[0]), f32_from_bits(stored[1]));
  }
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
