#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

std::int64_t count(const std::vector<std::int64_t>& domain, Index begin, Index end) {
  std::int64_t product = 1;
  for (Index d = begin; d < end; ++d) {
    product *= domain[d];
  }
  return product;
}

/// Lanes side by side over outputs where the outer index is the contiguous one, else threads along
/// the sum.
std::int64_t outputs_per_tile(
    const Task& task, std::int64_t outputs, std::int64_t blocks, Target target
) {
  const Index outer = task.domain.size() - Index(task.reduce->num_reduced_dims);
  std::int64_t outer_contiguous = 0;
  std::int64_t reduced_contiguous = 0;
  for (const ExprNode& node : task.nodes) {
    if (node.kind == ExprNode::Kind::Load && node.access.strides.size() == task.domain.size()) {
      outer_contiguous += outer > 0 && node.access.strides[outer - 1] == 1 ? 1 : 0;
      reduced_contiguous += node.access.strides.back() == 1 ? 1 : 0;
    }
  }
  if (outer_contiguous <= reduced_contiguous || outputs == 1) {
    return 1;
  }
  if (target == Target::Cpu) {
    return std::min<std::int64_t>(64, outputs);
  }
  // A warp stands side by side over 32 outputs, masked where there are fewer; over fewer, down to a
  // sector of f32, while that gives idle blocks work: the sums of a thread get shorter.
  constexpr std::int64_t kMinOutputs = 8;
  std::int64_t per_tile = 32;
  while (per_tile > kMinOutputs && 2 * ceil_div(outputs, per_tile) <= blocks) {
    per_tile /= 2;
  }
  return per_tile;
}

}  // namespace

void split_reductions(TaskGraph& graph, std::int64_t blocks, std::int64_t threads, Target target) {
  constexpr std::int64_t kMaxSplits = 64;
  // So short a sum is one thread's, which needs no meeting of threads.
  constexpr std::int64_t kMaxTermsOfAThread = 16;
  const auto is_short = [&](std::int64_t terms) {
    return target != Target::Cpu && terms <= kMaxTermsOfAThread;
  };
  const Index num_tasks = graph.tasks.size();
  for (Index t = 0; t < num_tasks; ++t) {
    Task& task = graph.tasks[t];
    if (!task.reduce) {
      continue;
    }
    const Index outer = task.domain.size() - Index(task.reduce->num_reduced_dims);
    const std::int64_t outputs = count(task.domain, 0, outer);
    const std::int64_t terms = count(task.domain, outer, task.domain.size());
    task.reduce->outputs_per_tile =
        is_short(terms) ? threads : outputs_per_tile(task, outputs, blocks, target);
    const std::int64_t per_tile = task.reduce->outputs_per_tile;
    // Below this many terms a thread's serial sum is shorter than a second phase; of a sum by whole
    // blocks that is little, since each thread waits for its loads.
    const std::int64_t terms_per_split =
        target == Target::Cpu ? 16384 : (per_tile == 1 ? 4 : 16) * threads;
    const std::int64_t tiles = (outputs + per_tile - 1) / std::max<std::int64_t>(per_tile, 1);
    const std::int64_t wanted = terms * per_tile / terms_per_split;
    const std::int64_t free_blocks = tiles == 0 ? 0 : blocks / tiles;
    const std::int64_t splits = std::min({wanted, free_blocks, kMaxSplits});
    if (splits < 2) {
      continue;
    }
    const auto buffer = static_cast<int>(graph.buffers.size());
    const ValueId partial_value = graph.next_synthetic++;
    graph.buffers.push_back(
        {.symbol = fmt::format("t{}", buffer),
         .dtype = DType::F32,
         .num_elements = outputs * splits,
         .storage = Storage::Workspace}
    );
    Access partial{.buffer = buffer, .offset = 0, .strides = {}};
    std::vector<std::int64_t> dense(
        task.domain.begin(), task.domain.begin() + static_cast<long>(outer)
    );
    dense.push_back(splits);
    partial.strides = contiguous_strides(dense);

    Task first{.kind = Task::Kind::Reduce, .name = task.name + ".part", .domain = task.domain};
    first.nodes.assign(task.nodes.begin(), task.nodes.begin() + task.reduce->operand + 1);
    first.reduce = task.reduce;
    first.reduce->splits = splits;
    first.nodes.push_back({.kind = ExprNode::Kind::Accumulator, .value = partial_value});
    first.stores.push_back(
        {.node = static_cast<int>(first.nodes.size()) - 1,
         .access = partial,
         .value = partial_value}
    );

    // The second task keeps what follows the sum; its operand is the partial sums.
    const int operand = task.reduce->operand;
    std::vector<ExprNode> nodes;
    nodes.push_back(
        {.kind = ExprNode::Kind::Load,
         .access = partial,
         .dtype = DType::F32,
         .value = partial_value}
    );
    for (Index n = Index(operand) + 1; n < task.nodes.size(); ++n) {
      ExprNode node = task.nodes[n];
      for (int& input : node.operands) {
        input -= operand;
      }
      nodes.push_back(std::move(node));
    }
    for (Store& store : task.stores) {
      store.node -= operand;
    }
    task.nodes = std::move(nodes);
    task.domain = dense;
    task.reduce = ReduceTask{
        .num_reduced_dims = 1, .operand = 0, .outputs_per_tile = is_short(splits) ? threads : 1};
    graph.tasks.push_back(std::move(first));
  }
}

}  // namespace whet
