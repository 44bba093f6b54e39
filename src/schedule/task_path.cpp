#include "schedule/task_path.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/operand_path.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

std::string ops_of(const Task& task) {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const ExprNode& node : task.nodes) {
    if (node.kind == ExprNode::Kind::Accumulator) {
      add(task.gemm ? op_name(OpKind::Mm) : op_name(OpKind::Sum));
    } else if (node.kind == ExprNode::Kind::Apply) {
      add(op_name(node.op));
    }
  }
  return names.empty() ? "copy" : fmt::format("{}", fmt::join(names, ", "));
}

std::string describe_fetch(const OperandPath& path, bool mma) {
  if (path.is_async) {
    return "by copies of 16 bytes";
  }
  if (path.along_k > 1) {
    return fmt::format("by {} along k", path.along_k);
  }
  if (path.rows > 1) {
    // A thread of the simt engine has four neighbouring rows at most.
    return mma ? fmt::format("by {} rows{}", path.rows, path.is_turned ? ", turned" : "")
               : fmt::format("by up to {} rows", std::min(path.rows, 4));
  }
  return "one by one";
}

void describe_cuda_product(const Schedule& schedule, const Task& task, TaskPath& path) {
  const GemmTiling& tiling = task.gemm->tiling;
  const bool mma = tiling.engine == Engine::Mma;
  path.engine = mma ? "mma" : "simt";
  if (!mma) {
    path.slower.push_back("not mma: " + why_not_mma(schedule.configuration, task));
  }
  std::vector<std::string> operands;
  for (const Side side : {Side::A, Side::B}) {
    const char* const name = side == Side::A ? "A" : "B";
    const OperandPath operand = operand_path(schedule, task, side);
    const std::string fetch = describe_fetch(operand, mma);
    operands.push_back(fmt::format("{} {}", name, fetch));
    if (!operand.obstacle.empty()) {
      path.slower.push_back(
          fmt::format("{}: {}: elements are fetched {}", name, operand.obstacle, fetch)
      );
    }
  }
  path.path = fmt::format(
      "operands {}: {}", tiling.direct ? "direct" : "staged", fmt::join(operands, ", ")
  );
  if (tiling.k_lanes > 1) {
    path.path += fmt::format("; {} lanes share K", tiling.k_lanes);
  }
  const EpiloguePath epilogue = epilogue_path(schedule, task);
  path.path += fmt::format("; results by up to {}", epilogue.width);
  if (!epilogue.obstacle.empty()) {
    path.slower.push_back(
        fmt::format("results: {}: they are moved by up to {}", epilogue.obstacle, epilogue.width)
    );
  }
}

void describe_cpu_product(const Task& task, TaskPath& path) {
  path.path = "packed panels";
  for (const Side side : {Side::A, Side::B}) {
    const std::vector<std::int64_t>& strides = operand_of(*task.gemm, side).access.strides;
    const bool is_line = operand_rows(task, side) == 1 || task.gemm->k == 1;
    if (strides[0] != 1 && strides[1] != 1 && !is_line) {
      path.slower.push_back(fmt::format(
          "{}: its elements are {} apart along k and {} along its rows: they are packed one by one",
          side == Side::A ? "A" : "B",
          strides[1],
          strides[0]
      ));
    }
  }
}

void describe_sum(const Schedule& schedule, const Task& task, TaskPath& path) {
  const ReduceTask& reduce = *task.reduce;
  if (reduce.outputs_per_tile == 1) {
    path.path = schedule.target == Target::Cpu ? "running sums side by side, then added"
                                               : "threads along the sum";
  } else if (schedule.target == Target::Cpu || reduce.outputs_per_tile < num_threads(task)) {
    path.path = fmt::format("{} sums side by side", reduce.outputs_per_tile);
  } else {
    path.path = "a thread a sum";
  }
  if (reduce.splits > 1) {
    path.path += fmt::format(", each in {} parts", reduce.splits);
  }
}

void describe_map(const Schedule& schedule, const Task& task, TaskPath& path) {
  path.path = schedule.target == Target::Cpu ? "rows of elements" : "a thread an element";
  const auto check = [&](const Access& access) {
    if (access.strides.empty() || access.strides.back() == 0 || access.strides.back() == 1 ||
        task.domain.back() == 1) {
      return;
    }
    path.slower.push_back(fmt::format(
        "{}: its neighbours are {} elements apart: an access brings one of them",
        schedule.buffers[Index(access.buffer)].symbol,
        access.strides.back()
    ));
  };
  for (const ExprNode& node : task.nodes) {
    if (node.kind == ExprNode::Kind::Load) {
      check(node.access);
    }
  }
  for (const Store& store : task.stores) {
    check(store.access);
  }
}

TaskPath path_of(const Schedule& schedule, const Task& task) {
  const bool is_cpu = schedule.target == Target::Cpu;
  TaskPath path{
      .task = task.name,
      .ops = ops_of(task),
      .engine = is_cpu ? "vectors" : "simt",
      .path = "",
      .slower = {}};
  switch (task.kind) {
    case Task::Kind::Gemm:
      is_cpu ? describe_cpu_product(task, path) : describe_cuda_product(schedule, task, path);
      break;
    case Task::Kind::Reduce:
      describe_sum(schedule, task, path);
      break;
    case Task::Kind::Map:
      describe_map(schedule, task, path);
      break;
  }
  return path;
}

}  // namespace

std::vector<TaskPath> task_paths(const Schedule& schedule) {
  std::vector<TaskPath> paths;
  for (const Phase& phase : schedule.phases) {
    for (const Task& task : phase.tasks) {
      paths.push_back(path_of(schedule, task));
    }
  }
  return paths;
}

}  // namespace whet
