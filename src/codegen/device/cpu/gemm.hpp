// Products on the CPU target: register tiles of at most kRows rows by kVectors vectors, over panels
// that the nearest caches hold. The emitted text defines kColumnVectors and kDepth before this
// file.

/// acc[rows, kVectors * kLanes] (+)= a b over `depth`.
struct RegisterTile {
  float* acc;
  i64 acc_row;
  Panel a;
  Panel b;
  i64 depth;
  bool is_first;  ///< of the blocks of K: the sums start at zero
};

template <int kRows, int kVectors>
WHET_DEVICE void multiply_tile(const RegisterTile& tile) {
  vec c[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      c[r][v] = tile.is_first ? vec{} : load_vec(tile.acc + r * tile.acc_row + v * kLanes);
    }
  }
  for (i64 k = 0; k < tile.depth; ++k) {
    vec row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      row[v] = load_vec(tile.b.first + k * tile.b.k_stride + v * kLanes);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      // Minus zero is no instruction; plus zero is one, since it would turn -0 to 0.
      const vec scale = tile.a.first[r * tile.a.row_stride + k * tile.a.k_stride] - vec{};
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) c[r][v] = fused(scale, row[v], c[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      store_vec(tile.acc + r * tile.acc_row + v * kLanes, c[r][v]);
    }
  }
}

/// multiply_tile with as many rows as there are.
template <int kRows, int kVectors>
WHET_DEVICE void multiply_rows(const RegisterTile& tile, i64 rows) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return multiply_rows<kRows - 1, kVectors>(tile, rows);
  }
  multiply_tile<kRows, kVectors>(tile);
}

/// A strip of columns, in register tiles of about equal height: a tile of few rows would wait for
/// its own sums.
template <int kRows, int kVectors>
static __attribute__((noinline)) void multiply_strip(const RegisterTile& first, i64 rows) {
  RegisterTile tile = first;
  const i64 num_tiles = (rows + kRows - 1) / kRows;
  const i64 least_height = rows / num_tiles;  // a division a tile would cost as much as a short one
  const i64 num_higher = rows - num_tiles * least_height;
  for (i64 i = 0; i < num_tiles; ++i) {
    const i64 height = least_height + (i < num_higher ? 1 : 0);
    multiply_rows<kRows, kVectors>(tile, height);
    tile.acc += height * tile.acc_row;
    tile.a.first += height * tile.a.row_stride;
  }
}

/// acc[rows, columns] = a b over k; rows of acc hold whole vectors. `panels` has room for kDepth of
/// a strip of columns and of all rows.
template <int kRows, class A, class B>
static void multiply(
    float* acc, i64 acc_row, const A& a, const B& b, i64 rows, i64 columns, i64 num_k, float* panels
) {
  constexpr i64 kWidth = kColumnVectors * kLanes;
  const i64 num_reads = (rows + kRows - 1) / kRows;
  i64 k = 0;
  do {
    const i64 depth = num_k - k < kDepth ? num_k - k : kDepth;
    const Panel left = pack_left(a.from(0, k), rows, depth, panels + kWidth * kDepth);
    for (i64 n = 0; n < columns;) {
      const bool is_wide = columns - n >= kWidth;
      const i64 width = is_wide ? kWidth : kLanes;
      const i64 inside = columns - n < width ? columns - n : width;
      const Panel right = pack_right(b.from(n, k), inside, width, depth, num_reads, panels);
      const RegisterTile tile{acc + n, acc_row, left, right, depth, k == 0};
      is_wide ? multiply_strip<kRows, kColumnVectors>(tile, rows)
              : multiply_strip<kRows, 1>(tile, rows);
      n += width;
    }
    k += kDepth;
  } while (k < num_k);
}
