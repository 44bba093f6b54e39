#include <algorithm>

#include "schedule/schedule.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

std::int64_t operand_bytes(
    std::int64_t rows, std::int64_t row, std::int64_t skew, std::int64_t element_bytes
) {
  return rows * (row + skew) * element_bytes;
}

/// Staged operand tiles, or the K groups' partial tiles that meet after the last step.
std::int64_t gemm_shared_bytes(const Task& task) {
  const GemmTask& gemm = *task.gemm;
  const GemmTiling& t = gemm.tiling;
  const std::int64_t bytes = dtype_bytes(gemm.dtype);
  const auto along_k = [](const GemmOperand& o) { return o.access.strides[1] == 1; };
  const std::int64_t a = along_k(gemm.a) ? operand_bytes(t.tile_m, t.tile_k, t.skew, bytes)
                                         : operand_bytes(t.tile_k, t.tile_m, t.skew, bytes);
  const std::int64_t b = along_k(gemm.b) ? operand_bytes(t.tile_n, t.tile_k, t.skew, bytes)
                                         : operand_bytes(t.tile_k, t.tile_n, t.skew, bytes);
  const std::int64_t staged = t.direct ? 0 : t.stages * (a + b);
  const bool in_registers = t.direct && t.split_k == 1;
  const std::int64_t partial = in_registers ? 0 : t.split_k * t.tile_m * (t.tile_n + 4) * 4;
  return std::max(staged, partial);
}

/// The accumulator tile, and panels of a strip of columns and of all rows.
std::int64_t gemm_scratch_bytes(const Task& task) {
  const GemmTiling& t = task.gemm->tiling;
  return (t.tile_m * t.tile_n + kCpuPanelDepth * (kCpuPanelWidth + t.tile_m)) * 4;
}

}  // namespace

int num_threads(const Task& task) { return task.num_warps == 0 ? 1 : task.num_warps * 32; }

std::int64_t scratch_bytes(const Task& task, Target target) {
  const int threads = num_threads(task);
  std::int64_t bytes = 0;
  if (task.gemm) {
    bytes = target == Target::Cpu ? gemm_scratch_bytes(task) : gemm_shared_bytes(task);
  } else if (task.reduce && target != Target::Cpu && task.reduce->outputs_per_tile < threads) {
    bytes = task.num_warps * task.reduce->outputs_per_tile * 4;
  }
  return (bytes + 127) / 128 * 128;
}

}  // namespace whet
