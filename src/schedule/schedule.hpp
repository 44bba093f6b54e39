#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "schedule/configuration.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// Where a buffer's bytes live.
enum class Storage {
  Argument,    ///< a tensor of the caller
  Workspace,   ///< the arena in device memory, behind what persists
  Persistent,  ///< device memory behind the control words that launches hand on
  Shared,      ///< the arena at the start of a block's shared memory: one block owns everything, or
               ///< each has a copy of what repeated phases store
};

/// Bytes that tasks read and write.
struct Buffer {
  std::string symbol;  ///< what emitted text calls it: "t0"
  DType dtype = DType::F32;
  std::int64_t num_elements = 0;
  Storage storage = Storage::Workspace;
  int argument = -1;                      ///< Argument: position in the launch plan's arguments
  std::int64_t offset_bytes = 0;          ///< in its arena
  std::int64_t step_stride_elements = 0;  ///< Argument: from one step's tensor to the next
  /// Argument: state that is in the shared arena while a launch runs.
  bool is_resident = false;
  /// Argument: state that is in registers while a launch runs: of the threads that update it, and
  /// nobody else has it.
  bool is_held = false;
  std::int64_t alignment_bytes = 16;  ///< of the first element
  std::int64_t slot_bytes =
      0;  ///< Shared: from an even step's copy to an odd step's, if it has two

  bool operator==(const Buffer&) const = default;
};

/// Whether a step finds a buffer's bytes in shared memory.
inline bool is_in_shared(const Buffer& buffer) {
  return buffer.storage == Storage::Shared || buffer.is_resident;
}

/// Restricts a load to indices start + i * step, 0 <= i < count, of one dimension; zero elsewhere.
struct Guard {
  int dim = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;

  bool operator==(const Guard&) const = default;
};

/// Element offset + sum of index[d] * strides[d] over a task's domain.
struct Access {
  int buffer = -1;
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;
  std::optional<Guard> guard;

  bool operator==(const Access&) const = default;
};

/// A node of the pointwise DAG that a task evaluates at each index of its domain, in f32.
struct ExprNode {
  enum class Kind {
    Load,         ///< an element through `access`
    Constant,     ///< attributes.other
    Accumulator,  ///< the raw f32 sum of a Gemm or Reduce
    Apply,        ///< an op on operands; the result is rounded to `dtype`
  };
  Kind kind = Kind::Constant;
  OpKind op = OpKind::Full;
  OpAttributes attributes;
  std::vector<int> operands;
  Access access;
  DType dtype = DType::F32;
  ValueId value = -1;            ///< the Program value that this computes or loads
  bool is_early = false;         ///< Load: may happen before the edge in front of its phase
  std::int64_t num_reduced = 1;  ///< Mean, MseLoss, MseLossBackward: the divisor

  bool operator==(const ExprNode&) const = default;
};

/// Writes a node's value.
struct Store {
  int node = -1;
  Access access;
  ValueId value = -1;

  bool operator==(const Store&) const = default;
};

/// One operand of a product: element (row, k) through `access`, whose strides are {row, k}.
struct GemmOperand {
  Access access;
  ValueId value = -1;  ///< what the buffer holds
  DType stored = DType::F32;
  bool is_early = false;  ///< may be read before the edge in front of its phase

  bool operator==(const GemmOperand&) const = default;
};

enum class Engine { Simt, Mma };

/// How a product is tiled; on the CPU target only the tile's sizes count.
struct GemmTiling {
  Engine engine = Engine::Simt;
  bool direct = false;  ///< operands go to registers straight; tile_k, stages and skew do not count
  std::int64_t tile_m = 16;
  std::int64_t tile_n = 16;
  std::int64_t tile_k = 32;
  int stages = 2;
  int split_k = 1;  ///< thread groups of a team that share a tile's K and meet in shared memory
  int k_lanes = 1;  ///< direct simt: neighbouring lanes that share a group's K and meet in shuffles
  int skew = 8;     ///< elements of padding of a shared-memory row

  bool operator==(const GemmTiling&) const = default;
};

/// acc[m, n] = sum over k of a[m, k] b[k, n], operands rounded to `dtype`, sums in f32.
struct GemmTask {
  std::int64_t k = 0;
  DType dtype = DType::F32;
  GemmOperand a;  ///< strides {m, k}
  GemmOperand b;  ///< strides {n, k}
  GemmTiling tiling;

  bool operator==(const GemmTask&) const = default;
};

/// acc[outer] = sum over the trailing `num_reduced_dims` of the domain of node `operand`.
struct ReduceTask {
  int num_reduced_dims = 0;
  int operand = -1;
  std::int64_t splits = 1;  ///< tiles that share one output; > 1 only with a partial store
  std::int64_t outputs_per_tile =
      1;  ///< 1: threads along the sum; 8 to 32: lanes side by side; else a thread an output

  bool operator==(const ReduceTask&) const = default;
};

/// One tiled computation. The domain is [M, N] for a Gemm, the outer dims then the reduced ones for
/// a Reduce, the index space for a Map. Stores of a Gemm or Reduce run over the outer domain.
struct Task {
  enum class Kind { Gemm, Map, Reduce };
  Kind kind = Kind::Map;
  std::string name;  ///< canonical: "mm1.fwd", "map3", "sum2"
  std::vector<std::int64_t> domain;
  std::vector<ExprNode> nodes;  ///< operands before users
  std::vector<Store> stores;
  std::optional<GemmTask> gemm;
  std::optional<ReduceTask> reduce;
  std::int64_t tile_elements = 0;  ///< Map: elements a tile
  std::int64_t num_tiles = 0;
  bool is_commit = false;                 ///< copies staged state to the caller's tensor
  int first_warp = 0;                     ///< of the team that computes the tiles
  int num_warps = 0;                      ///< of the team; 0 on the CPU target
  std::int64_t scratch_offset_bytes = 0;  ///< of the team's staging
  int first_state_word = 0;  ///< of a thread's registers for held state, the task's first

  bool operator==(const Task&) const = default;
};

/// What orders the phase behind it after the one before it.
enum class Edge { None, Block, Cluster, Grid };

/// Blocks meet at it, and a tile may read before it waits.
inline bool is_between_blocks(Edge edge) { return edge == Edge::Cluster || edge == Edge::Grid; }

/// Tasks without dependences among them. Tiles of all tasks, in order, are dealt round-robin to
/// blocks. Tasks of one team run one after the other, teams of a block side by side, where each
/// task has a team or all have one.
struct Phase {
  std::vector<Task> tasks;
  Edge edge_before = Edge::None;  ///< from the previous phase of the same step
  bool is_repeated = false;       ///< each block computes all tiles, for itself

  bool operator==(const Phase&) const = default;
};

/// One block owns everything, or tiles are spread over the blocks of a cluster or of a grid.
enum class Partition { Block, Cluster, Grid };

/// A 16-bit copy of f32 state that the step keeps with it, for products to read.
struct Shadow {
  int state_buffer = -1;
  int buffer = -1;  ///< of the copy: Persistent, or Shared and made again by each launch

  bool operator==(const Shadow&) const = default;
};

/// A copy of an input in shared memory, brought there while the step or launch before runs.
struct PrefetchedInput {
  int input_buffer = -1;
  int buffer = -1;            ///< of the copy: Shared
  std::int64_t num_rows = 1;  ///< of the input, each `row_bytes` long
  std::int64_t row_bytes = 0;
  std::int64_t pitch_bytes = 0;  ///< from row to row of the copy
  bool is_stable = false;        ///< may be read before the launch before has ended

  bool operator==(const PrefetchedInput&) const = default;
};

/// Resolved decisions: what is computed where, in which order, and what orders it.
struct Schedule {
  Configuration configuration;
  Target target = Target::Cpu;
  Partition partition = Partition::Grid;
  int blocks = 1;
  int threads = 1;
  int blocks_per_sm = 1;
  int steps_per_launch = 1;
  std::vector<int> warmed;  ///< buffers that one block has brought to its L1 for later phases
  bool overlaps = false;  ///< a launch starts while the one before it still runs, and waits for it
  /// Blocks count in the workspace which batch of the ring comes next; else each launch is told.
  bool counts_batches = false;
  std::vector<Buffer> buffers;
  std::vector<Shadow> shadows;
  std::vector<PrefetchedInput> prefetched;
  std::vector<Phase> phases;
  Edge step_edge = Edge::Grid;        ///< between the steps of one launch
  std::int64_t persistent_bytes = 0;  ///< workspace behind the control words
  std::int64_t arena_bytes = 0;       ///< and behind that
  std::int64_t shared_arena_bytes = 0;
  std::int64_t scratch_bytes = 0;  ///< staging of the widest task; shared memory on a GPU
  int state_words = 0;             ///< registers of a thread for held state
  int num_staged_commits = 0;

  bool operator==(const Schedule&) const = default;
};

/// Bytes of staging that a task needs in shared memory (GPU) or scratch (CPU).
std::int64_t scratch_bytes(const Task& task, Target target);

/// Blocks that share the tiles of a phase.
inline int sharing_blocks(const Schedule& schedule, const Phase& phase) {
  return phase.is_repeated ? 1 : schedule.blocks;
}

/// Rough work of a task: products of a Gemm, elements of another.
std::int64_t work_of(const Task& task);

/// Threads that compute a tile of a task: its team, or one on the CPU target.
int num_threads(const Task& task);

}  // namespace whet
