// K is shared in two ways. Groups of threads meet in shared memory, behind a barrier, and leave the
// lanes of a warp to rows and columns: an operand that lies along its rows comes in few lines, one
// that lies along K in a line for each row. Lanes of a warp meet in shuffles, and it is the other
// way round: neighbours along K share a line, neighbours along rows are lines apart. So it is the
// lines of both operands that decide, and the wait.

#include "schedule/k_lanes.hpp"

#include <algorithm>

#include "schedule/operand_path.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

// From the first partial sum that is stored to the last that is read: a block's barrier and two
// latencies of shared memory. Source: configs/costs/h200.json at 1.98 GHz.
constexpr std::int64_t kBarrierCycles = 86;
// And the additions of the groups' sums, one after the other. Source: the latency of an fma.
constexpr std::int64_t kAdditionCycles = 4;
// A shuffle from use to use, with its addition. Source: as model/tile_cost.cpp.
constexpr std::int64_t kShuffleCycles = 30;
constexpr std::int64_t kLineBytes = 128;
constexpr std::int64_t kWarp = 32;

/// How many threads differ within a warp in their place along K, columns and rows.
struct WarpShape {
  std::int64_t k = 1;
  std::int64_t columns = 1;
  std::int64_t rows = 1;
};

/// In the order of thread numbers: lanes of K, columns, rows, groups of K.
WarpShape warp_shape(const GemmTiling& tiling, std::int64_t columns, std::int64_t rows) {
  std::int64_t left = kWarp / tiling.k_lanes;
  const auto take = [&](std::int64_t count) {
    const std::int64_t taken = std::min(left, count);
    left /= taken;
    return taken;
  };
  WarpShape shape;
  shape.columns = take(columns);
  shape.rows = take(rows);
  shape.k = tiling.k_lanes * take(tiling.split_k);
  return shape;
}

/// Lines that a warp touches for four elements of K of each of its threads' `share` rows of an
/// operand; its threads have `threads` places along those rows and `k` along K.
std::int64_t lines_of_step(
    const OperandPath& path,
    const GemmOperand& operand,
    std::int64_t share,
    std::int64_t threads,
    std::int64_t k
) {
  const std::int64_t bytes = dtype_bytes(operand.stored);
  const std::int64_t lines_along_k = ceil_div(k * 4 * bytes, kLineBytes);
  if (path.along_k > 1) {
    return share * threads * lines_along_k;
  }
  const std::int64_t of_thread = share % 4 == 0 ? 4 : share % 2 == 0 ? 2 : 1;
  const std::int64_t run = std::min<std::int64_t>(path.rows, of_thread);
  const std::int64_t accesses = 4 * share / run;
  const bool is_along_rows = operand.access.strides[0] == 1;
  const bool is_along_k = operand.access.strides[1] == 1;
  return accesses * (is_along_rows ? ceil_div(threads * run * bytes, kLineBytes) : threads) *
         (is_along_k ? lines_along_k : k);
}

/// What meeting takes: of groups a barrier, their stores and loads; of lanes their shuffles.
std::int64_t meeting_cycles(const GemmTiling& tiling, std::int64_t sums, std::int64_t warps) {
  std::int64_t cycles = 0;
  if (tiling.split_k > 1) {
    const std::int64_t words = 2 * tiling.split_k * tiling.tile_m * tiling.tile_n;
    cycles += kBarrierCycles + kAdditionCycles * tiling.split_k + ceil_div(words, kWarp);
  }
  for (std::int64_t lanes = tiling.k_lanes; lanes > 1; lanes /= 2) {
    sums = std::max<std::int64_t>(sums / 2, 1);
    cycles += kShuffleCycles + warps * sums;
  }
  return cycles;
}

}  // namespace

std::int64_t access_cycles(const Schedule& schedule, const Task& task, std::int64_t threads) {
  const GemmTask& gemm = *task.gemm;
  const GemmTiling& tiling = gemm.tiling;
  const std::optional<WarpGrid> share = share_tile(tiling, threads);
  if (!share) {
    return 0;
  }
  const std::int64_t columns = tiling.tile_n / share->n;
  const std::int64_t rows = tiling.tile_m / share->m;
  const WarpShape shape = warp_shape(tiling, columns, rows);
  const std::int64_t parts = std::int64_t{tiling.split_k} * tiling.k_lanes;
  const std::int64_t warps = ceil_div(parts * columns * rows, kWarp);
  const std::int64_t steps = ceil_div(ceil_div(gemm.k, 4), parts);
  const auto lines = [&](Side side, std::int64_t of_thread, std::int64_t of_warp) {
    const OperandPath path = operand_path(schedule, task, side);
    return lines_of_step(path, operand_of(gemm, side), of_thread, of_warp, shape.k);
  };
  const std::int64_t step_lines =
      lines(Side::A, share->m, shape.rows) + lines(Side::B, share->n, shape.columns);
  return warps * steps * step_lines + meeting_cycles(tiling, share->m * share->n, warps);
}

std::int64_t fit_k_lanes(
    const Schedule& schedule, Task task, std::int64_t parts, std::int64_t most
) {
  const std::int64_t threads = num_threads(task);
  std::int64_t best = 1;
  std::int64_t fewest = 0;
  for (std::int64_t lanes = 1; lanes <= std::min(parts, most); lanes *= 2) {
    task.gemm->tiling.k_lanes = static_cast<int>(lanes);
    task.gemm->tiling.split_k = static_cast<int>(parts / lanes);
    const std::int64_t cycles = access_cycles(schedule, task, threads);
    if (lanes == 1 || cycles < fewest) {
      fewest = cycles;
      best = lanes;
    }
  }
  return best;
}

}  // namespace whet
