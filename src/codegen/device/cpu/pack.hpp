// Operands of products on the CPU target, copied to f32 panels in scratch: dense, so that a panel
// stays in the caches whatever the strides of its tensor are.

template <class A, class B>
constexpr bool kIsSame = false;
template <class A>
constexpr bool kIsSame<A, A> = true;

/// Element (row, k) of an operand is first[row * row_stride + k * k_stride], as f32 and rounded to
/// the product's type `Computed`.
template <class Stored, class Computed>
struct Operand {
  const Stored* first;
  i64 row_stride;
  i64 k_stride;

  static constexpr bool kIsF32 = kIsSame<Stored, float> && kIsSame<Computed, float>;
  WHET_MEMBER static float value(Stored stored) {
    if constexpr (kIsSame<Stored, Computed>) {
      return to_f32(stored);
    } else {
      return rounded_to<Computed>(to_f32(stored));
    }
  }
  WHET_MEMBER Operand from(i64 row, i64 k) const {
    return {first + row * row_stride + k * k_stride, row_stride, k_stride};
  }
};

/// to[outer * pitch + inner], where from(outer, inner) is at outer * outer_stride + inner *
/// inner_stride.
template <class Operand, class Stored>
WHET_DEVICE void copy_panel(
    float* to,
    i64 pitch,
    const Stored* from,
    i64 outer_stride,
    i64 inner_stride,
    i64 num_outer,
    i64 num_inner
) {
  for (i64 outer = 0; outer < num_outer; ++outer) {
    float* const line = to + outer * pitch;
    const Stored* const source = from + outer * outer_stride;
    if (inner_stride == 1) {
#pragma GCC ivdep
      for (i64 inner = 0; inner < num_inner; ++inner) line[inner] = Operand::value(source[inner]);
    } else {
      for (i64 inner = 0; inner < num_inner; ++inner) {
        line[inner] = Operand::value(source[inner * inner_stride]);
      }
    }
  }
}

/// As copy_panel with outer_stride 1: squares of vectors are read along `outer` and transposed.
template <class Operand, class Stored>
WHET_DEVICE void transpose_panel(
    float* to, i64 pitch, const Stored* from, i64 inner_stride, i64 num_outer, i64 num_inner
) {
  const i64 whole = num_outer / kLanes * kLanes;
  i64 inner = 0;
  for (; inner + kLanes <= num_inner; inner += kLanes) {
    for (i64 outer = 0; outer < whole; outer += kLanes) {
      vec rows[kLanes];
#pragma GCC unroll 16
      for (int r = 0; r < kLanes; ++r) {
        const Stored* const source = from + (inner + r) * inner_stride + outer;
        if constexpr (Operand::kIsF32) {
          rows[r] = load_vec(source);
        } else {
          alignas(kVectorBytes) float values[kLanes];
          for (int lane = 0; lane < kLanes; ++lane) values[lane] = Operand::value(source[lane]);
          rows[r] = load_vec(values);
        }
      }
      transpose(rows);
#pragma GCC unroll 16
      for (int r = 0; r < kLanes; ++r) store_vec(to + (outer + r) * pitch + inner, rows[r]);
    }
  }
  const i64 turned = inner;
  copy_panel<Operand>(
      to + whole * pitch, pitch, from + whole, 1, inner_stride, num_outer - whole, turned
  );
  for (inner = turned; inner < num_inner; ++inner) {
    const Stored* const source = from + inner * inner_stride;
    for (i64 outer = 0; outer < num_outer; ++outer) {
      to[outer * pitch + inner] = Operand::value(source[outer]);
    }
  }
}

/// So many lines, one for each k, stay in the cache even if their stride sends all to a few places.
constexpr i64 kFewLines = 16;

/// f32 elements (row, k) at first[row * row_stride + k * k_stride].
struct Panel {
  const float* first;
  i64 row_stride;
  i64 k_stride;
};

/// The left operand's rows: f32 in place if they are dense or few lines of the cache, else copied
/// along k or along the rows, as they lie in memory.
template <class Operand>
WHET_DEVICE Panel pack_left(const Operand& a, i64 rows, i64 depth, float* to) {
  if constexpr (Operand::kIsF32) {
    if (a.k_stride == 1 || depth <= kFewLines) return {a.first, a.row_stride, a.k_stride};
  }
  if (a.k_stride == 1) {
    copy_panel<Operand>(to, depth, a.first, a.row_stride, 1, rows, depth);
    return {to, depth, 1};
  }
  copy_panel<Operand>(to, rows, a.first, a.k_stride, a.row_stride, depth, rows);
  return {to, 1, rows};
}

/// A strip of `width` of the right operand's rows (columns of the product), of which `columns` are
/// there and the others zero: one vector row for each k. In place if vectors lie there, and it is
/// few lines or read `num_reads` times only.
template <class Operand>
WHET_DEVICE Panel
pack_right(const Operand& b, i64 columns, i64 width, i64 depth, i64 num_reads, float* to) {
  // A copy costs about as much as two reads.
  constexpr i64 kMinReads = 5;
  if constexpr (Operand::kIsF32) {
    const bool is_short = depth <= kFewLines || num_reads < kMinReads;
    if (b.row_stride == 1 && columns == width && is_short) {
      return {b.first, 1, b.k_stride};
    }
  }
  if (columns == 1) {
    // Whole vectors: a load of one that was stored in parts waits for all of them.
    for (i64 k = 0; k < depth; ++k) {
      vec line{};
      line[0] = Operand::value(b.first[k * b.k_stride]);
      store_vec(to + k * width, line);
    }
    return {to, 1, width};
  }
  if (columns < width) {
    for (i64 i = 0; i < width * depth; i += kLanes) store_vec(to + i, vec{});
  }
  if (b.k_stride == 1 && b.row_stride != 1) {
    transpose_panel<Operand>(to, width, b.first, b.row_stride, depth, columns);
  } else {
    copy_panel<Operand>(to, width, b.first, b.k_stride, b.row_stride, depth, columns);
  }
  return {to, 1, width};
}
