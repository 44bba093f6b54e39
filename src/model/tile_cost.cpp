#include "model/tile_cost.hpp"

#include <algorithm>
#include <cmath>

#include "model/host_tile_cost.hpp"
#include "schedule/reads.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

// Instructions of a warp for a pointwise op of an element a lane: most convert, compute and round.
constexpr double kInstructionsPerNode = 4.0;
// Of a warp's load or store with its address.
constexpr double kInstructionsPerAccess = 4.0;
constexpr double kSchedulers = 4.0;
constexpr double kLineBytes = 128.0;
// A multiprocessor's shuffle, from use to use.
constexpr double kShuffleClk = 25.0;
// From a warp's mma to the next that adds to its sums. Source: danila-permogorskii/kernel-task, on
// an H100.
constexpr double kDependentMmaClk = 24.0;

/// One tile of a task and where it runs.
class Tile {
 public:
  Tile(const Task& task, const Schedule& schedule, const DeviceCosts& costs)
      : task_(task),
        schedule_(schedule),
        costs_(costs),
        num_threads_(num_threads(task)),
        threads_(num_threads_) {}

  TileCost cost() {
    if (task_.gemm) {
      if (task_.gemm->tiling.direct) {
        multiply_direct();
      } else {
        multiply_staged();
      }
      finish_product();
    } else if (task_.reduce) {
      reduce();
    } else {
      map();
    }
    return cost_;
  }

 private:
  double clk(double ns) const { return ns * costs_.clock_mhz * 1e-3; }
  double sm_bytes_per_clk() const { return costs_.sm_l2_bytes_per_ns / costs_.clock_mhz * 1e3; }

  bool is_near(const Access& access) const {
    const Buffer& buffer = schedule_.buffers[Index(access.buffer)];
    return is_in_shared(buffer) ||
           std::ranges::find(schedule_.warmed, access.buffer) != schedule_.warmed.end() ||
           was_read_before(access);
  }
  /// By an earlier phase of one block, whose L1 then has it if it is small.
  bool was_read_before(const Access& access) const {
    constexpr std::int64_t kMaxBytes = 65536;  // of an L1 that has room for some such
    const Buffer& buffer = schedule_.buffers[Index(access.buffer)];
    if (schedule_.partition != Partition::Block ||
        buffer.num_elements * dtype_bytes(buffer.dtype) > kMaxBytes) {
      return false;
    }
    for (const Phase& phase : schedule_.phases) {
      for (const Task& task : phase.tasks) {
        if (&task == &task_) {
          return false;
        }
      }
      for (const Task& task : phase.tasks) {
        bool reads = false;
        for_each_read(task, [&](const Access& read, ValueId, bool) {
          reads = reads || read.buffer == access.buffer;
        });
        if (reads) {
          return true;
        }
      }
    }
    return false;
  }
  double latency_clk(const Access& access) const {
    return clk(is_near(access) ? costs_.shared_latency_ns : costs_.l2_latency_ns);
  }
  double element_bytes(const Access& access) const {
    return static_cast<double>(dtype_bytes(schedule_.buffers[Index(access.buffer)].dtype));
  }

  /// `num_lines` lines of L1, which come from L2 as `bytes` unless they are there.
  void load(double num_lines, double bytes, bool near, bool early) {
    const double from_l2 = near ? 0.0 : bytes;
    const double cycles = std::max(num_lines, from_l2 / sm_bytes_per_clk());
    cost_.load_clk += cycles;
    cost_.early_load_clk += early ? cycles : 0.0;
    cost_.l2_bytes += from_l2;
  }

  // ---- Products --------------------------------------------------------------------------------

  double operand_bytes(const GemmOperand& operand, std::int64_t rows) const {
    return static_cast<double>(rows * task_.gemm->k) * element_bytes(operand.access);
  }

  void multiply_direct() {
    const GemmTiling& tiling = task_.gemm->tiling;
    const std::optional<WarpGrid> grid = share_tile(tiling, num_threads_);
    if (!grid) {
      return;
    }
    if (tiling.engine == Engine::Mma) {
      multiply_direct_mma(*grid);
    } else {
      multiply_direct_simt(*grid);
    }
  }

  void multiply_direct_mma(const WarpGrid& grid) {
    const GemmTask& gemm = *task_.gemm;
    const GemmTiling& tiling = gemm.tiling;
    const double m = static_cast<double>(tiling.tile_m / 16 / grid.m);
    const double n = static_cast<double>(tiling.tile_n / 8 / grid.n);
    const double warps = static_cast<double>(grid.m * grid.n * tiling.split_k);
    const double steps =
        static_cast<double>(ceil_div(ceil_div(gemm.k, 16), std::int64_t{tiling.split_k}));
    // Registers bound how many steps are under way: the batches of direct.cuh.
    const auto words = [&](const GemmOperand& o) { return 2 * element_bytes(o.access) / 2; };
    const double fits = std::floor(
        static_cast<double>(operand_words(schedule_)) / (2 * m * words(gemm.a) + n * words(gemm.b))
    );
    const double batches = std::ceil(steps / std::clamp(fits, 1.0, steps));
    cost_.wait_clk += batches * std::max(latency_clk(gemm.a.access), latency_clk(gemm.b.access)) +
                      steps * kDependentMmaClk;
    fetch_fragments(gemm.a, tiling.tile_m, warps * steps * 2 * m, batches);
    fetch_fragments(gemm.b, tiling.tile_n, warps * steps * n, batches);
    const double mmas = warps * steps * m * n;
    cost_.math_clk += mma_clk(mmas, warps);
    cost_.issue_clk += warps * steps * (2 * m + n) * kInstructionsPerAccess / kSchedulers;
  }

  /// `groups` of eight rows by sixteen of K, each of as many lines as rows, or half that where a
  /// lane's access of 16 bytes serves two of them.
  void fetch_fragments(
      const GemmOperand& operand, std::int64_t rows, double groups, double batches
  ) {
    const bool along_k = operand.access.strides[1] == 1;
    const bool wide = task_.gemm->k % 32 == 0 && element_bytes(operand.access) == 2;
    const double lines = groups * (along_k && wide ? 4.0 : 8.0);
    const double bytes = operand_bytes(operand, rows);
    load(lines / batches, bytes / batches, is_near(operand.access), operand.is_early);
    if (batches > 1) {
      const double left = (batches - 1) / batches;
      load(lines * left, bytes * left, is_near(operand.access), false);
    }
  }

  /// A warp has but its own scheduler's tensor core.
  double mma_clk(double mmas, double warps) const {
    constexpr double kFlops = 2.0 * 16 * 8 * 16;
    return mmas * kFlops / costs_.mma_flops_per_clk * kSchedulers / std::min(warps, kSchedulers);
  }

  void multiply_direct_simt(const WarpGrid& share) {
    const GemmTask& gemm = *task_.gemm;
    const GemmTiling& tiling = gemm.tiling;
    const std::int64_t columns = tiling.tile_n / share.n;
    const std::int64_t rows = tiling.tile_m / share.m;
    const std::int64_t parts = std::int64_t{tiling.split_k} * tiling.k_lanes;
    const double warps = std::max(1.0, static_cast<double>(rows * columns * parts) / 32.0);
    const double steps = static_cast<double>(ceil_div(gemm.k, parts));
    const std::int64_t lanes_left = 32 / tiling.k_lanes;
    const std::int64_t columns_of_warp = std::min<std::int64_t>(columns, lanes_left);
    const auto lines = [&](const GemmOperand& o, std::int64_t neighbours) {
      // Neighbours read one line if they are neighbours in memory, else one each: lanes along K
      // too.
      const double bytes = element_bytes(o.access);
      const double lines_of_rows =
          o.access.strides[0] == 1 ? std::ceil(static_cast<double>(neighbours) * bytes / kLineBytes)
                                   : static_cast<double>(neighbours);
      return lines_of_rows * (o.access.strides[1] == 1 ? 1 : tiling.k_lanes);
    };
    const double lines_a = lines(gemm.a, std::max<std::int64_t>(lanes_left / columns_of_warp, 1));
    const double lines_b = lines(gemm.b, columns_of_warp);
    const double m = static_cast<double>(share.m);
    const double n = static_cast<double>(share.n);
    constexpr double kUnrolled = 4.0;
    cost_.wait_clk += std::ceil(steps / kUnrolled) *
                      std::max(latency_clk(gemm.a.access), latency_clk(gemm.b.access)) * 0.5;
    load(
        warps * steps * m * lines_a,
        operand_bytes(gemm.a, tiling.tile_m),
        is_near(gemm.a.access),
        false
    );
    load(
        warps * steps * n * lines_b,
        operand_bytes(gemm.b, tiling.tile_n),
        is_near(gemm.b.access),
        false
    );
    multiply_plain(warps, steps, m, n);
  }

  /// m x n fma a step of K, by lanes; operands are converted and addressed one by one.
  void multiply_plain(double warps, double steps, double m, double n) {
    const double spread = kSchedulers / std::min(warps, kSchedulers);
    cost_.math_clk += warps * steps * m * n * 64.0 / costs_.fma_flops_per_clk * spread;
    cost_.issue_clk += warps * steps * (m + n) * kInstructionsPerAccess / kSchedulers * spread;
  }

  void multiply_staged() {
    const GemmTask& gemm = *task_.gemm;
    const GemmTiling& tiling = gemm.tiling;
    const std::optional<WarpGrid> grid = share_tile(tiling, num_threads_);
    if (!grid) {
      return;
    }
    const double warps = threads_ / 32.0;
    const double stages = static_cast<double>(ceil_div(gemm.k, tiling.tile_k));
    const double latency = std::max(latency_clk(gemm.a.access), latency_clk(gemm.b.access));
    const double ahead = std::max(tiling.stages - 1, 0);
    const double barrier = clk(costs_.block_barrier_ns) * threads_ / 256.0;
    // The first stage is waited for, and of each further one what those ahead do not hide.
    cost_.wait_clk += ahead == 0 ? stages * (latency + 2 * barrier)
                                 : latency + stages * (barrier + latency / (1 + ahead));
    stage(gemm.a, tiling.tile_m, stages);
    stage(gemm.b, tiling.tile_n, stages);
    const double steps = stages * static_cast<double>(tiling.tile_k) / tiling.split_k;
    if (tiling.engine == Engine::Mma) {
      const double m = static_cast<double>(tiling.tile_m / 16 / grid->m);
      const double n = static_cast<double>(tiling.tile_n / 8 / grid->n);
      cost_.wait_clk += steps / 16 * (kDependentMmaClk + clk(costs_.shared_latency_ns));
      cost_.math_clk += mma_clk(warps * steps / 16 * m * n, warps);
      constexpr double kFragmentBytes = 8 * 16 * 2;
      cost_.load_clk +=
          warps * steps / 16 * (2 * m + n) * kFragmentBytes / costs_.shared_bytes_per_clk;
    } else {
      const double m = static_cast<double>(grid->m);
      const double n = static_cast<double>(grid->n);
      cost_.wait_clk += steps / 4 * clk(costs_.shared_latency_ns);
      cost_.load_clk += warps * steps * (m + n);
      multiply_plain(warps, steps, m, n);
    }
  }

  /// One operand's way to shared memory: asynchronously in 16 bytes, or element by element, each
  /// four of which are waited for.
  void stage(const GemmOperand& operand, std::int64_t rows, double stages) {
    const GemmTask& gemm = *task_.gemm;
    const double elements = static_cast<double>(rows * gemm.tiling.tile_k) * stages;
    const bool async = operand.stored == gemm.dtype && (gemm.k % 8 == 0);
    load(
        elements * element_bytes(operand.access) / kLineBytes,
        operand_bytes(operand, rows),
        is_near(operand.access),
        false
    );
    const double accesses =
        elements / 32.0 / (async ? 16.0 / static_cast<double>(dtype_bytes(gemm.dtype)) : 1.0);
    cost_.issue_clk += accesses * (async ? 1.0 : 2.0) * kInstructionsPerAccess / kSchedulers;
    if (!async) {
      cost_.wait_clk += elements / threads_ / 4.0 * latency_clk(operand.access);
    }
  }

  void finish_product() {
    const GemmTiling& tiling = task_.gemm->tiling;
    const double elements = static_cast<double>(tiling.tile_m * tiling.tile_n);
    if (tiling.split_k > 1 || !tiling.direct) {
      const double words = elements * (tiling.split_k + 1) * 4;
      cost_.load_clk += words / costs_.shared_bytes_per_clk;
      cost_.wait_clk += 2 * clk(costs_.shared_latency_ns) + clk(costs_.block_barrier_ns);
      cost_.issue_clk += elements * (tiling.split_k + 1) / 32.0 / kSchedulers;
    }
    cost_.wait_clk += std::log2(tiling.k_lanes) * kShuffleClk;
    compute(elements, 0);
  }

  // ---- Everything else -------------------------------------------------------------------------

  /// Nodes from `first` on and the stores, for `elements` elements of the tile.
  void compute(double elements, Index first) {
    const double warps = elements / 32.0;
    const double spread = kSchedulers / std::min(threads_ / 32.0, kSchedulers);
    bool waits = false;
    for (Index n = first; n < task_.nodes.size(); ++n) {
      const ExprNode& node = task_.nodes[n];
      if (node.kind == ExprNode::Kind::Load) {
        access(node.access, elements, node.is_early);
        waits = waits || !node.is_early;
      } else if (node.kind == ExprNode::Kind::Apply) {
        cost_.issue_clk += warps * kInstructionsPerNode / kSchedulers * spread;
      }
    }
    for (const Store& store : task_.stores) {
      access(store.access, elements, false);
    }
    // A product's operands are waited for at the same time.
    cost_.wait_clk += waits && !task_.gemm ? clk(costs_.l2_latency_ns) : 0.0;
  }

  void access(const Access& access, double elements, bool early) {
    if (schedule_.buffers[Index(access.buffer)].is_held) {
      return;  // it is in the registers that compute with it
    }
    const bool varies =
        std::ranges::any_of(access.strides, [](std::int64_t stride) { return stride != 0; });
    const double bytes = varies ? elements * element_bytes(access) : element_bytes(access);
    load(bytes / kLineBytes, bytes, is_near(access), early);
    cost_.issue_clk += (varies ? elements / 32.0 : 1.0) * kInstructionsPerAccess / kSchedulers;
  }

  void map() { compute(static_cast<double>(task_.tile_elements), 0); }

  void reduce() {
    const ReduceTask& reduce = *task_.reduce;
    const double outputs = static_cast<double>(reduce.outputs_per_tile);
    const double elements = static_cast<double>(num_elements(task_.domain)) /
                            static_cast<double>(std::max<std::int64_t>(task_.num_tiles, 1));
    constexpr double kUnrolled = 16.0;
    const double rounds = std::ceil(elements / threads_ / kUnrolled);
    cost_.wait_clk += rounds * clk(costs_.l2_latency_ns);
    compute(elements, 0);
    // Lanes meet in shuffles, warps in shared memory.
    cost_.wait_clk += outputs == 1 ? 5 * kShuffleClk : kShuffleClk;
    if (threads_ > 32 && outputs < threads_) {
      cost_.wait_clk +=
          clk(costs_.block_barrier_ns) + clk(costs_.shared_latency_ns) + 4.0 * threads_ / 32.0;
    }
  }

  const Task& task_;
  const Schedule& schedule_;
  const DeviceCosts& costs_;
  int num_threads_;
  double threads_;
  TileCost cost_;
};

}  // namespace

TileCost tile_cost(const Task& task, const Schedule& schedule, const DeviceCosts& costs) {
  if (schedule.target == Target::Cpu) {
    return host_tile_cost(task, schedule, costs);
  }
  return Tile(task, schedule, costs).cost();
}

}  // namespace whet
