// Each way to fetch has a function that says what stands against it, so that what is emitted and
// what is told of it are one decision.

#include "schedule/operand_path.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whet {
namespace {

using Index = std::size_t;
/// What stands against something; empty if nothing does.
using Obstacle = std::string;

Obstacle multiple_obstacle(const char* what, std::int64_t value, std::int64_t count) {
  return value % count == 0 ? "" : fmt::format("{} = {} is no multiple of {}", what, value, count);
}

Obstacle run_obstacle(
    const Schedule& schedule, const Access& access, Index along, std::int64_t count
) {
  const Buffer& buffer = schedule.buffers[Index(access.buffer)];
  const std::int64_t bytes = count * dtype_bytes(buffer.dtype);
  if (access.guard) {
    return "it is padded by zeros that are not in memory";
  }
  if (access.strides[along] != 1) {
    return fmt::format("its neighbours are {} elements apart", access.strides[along]);
  }
  if (access.offset % count != 0) {
    return fmt::format("it begins at element {}, no multiple of {}", access.offset, count);
  }
  if (buffer.alignment_bytes % bytes != 0) {
    return fmt::format(
        "it is aligned to {} bytes, and the access to {}", buffer.alignment_bytes, bytes
    );
  }
  for (Index d = 0; d < access.strides.size(); ++d) {
    if (d != along && access.strides[d] % count != 0) {
      return fmt::format(
          "its lines are {} elements apart, no multiple of {}", access.strides[d], count
      );
    }
  }
  // Of a state or an output, step n + 1 lies right behind step n.
  if (buffer.step_stride_elements % count != 0) {
    return fmt::format(
        "its steps are {} elements apart, no multiple of {}", buffer.step_stride_elements, count
    );
  }
  return "";
}

/// How a product walks an operand: where that has one row, or one element of K, its stride there
/// does not count.
Access walked(const Task& task, Side side) {
  Access access = operand_of(*task.gemm, side).access;
  if (operand_rows(task, side) == 1) {
    access.strides[0] = 0;
  }
  if (task.gemm->k == 1) {
    access.strides[1] = 0;
  }
  return access;
}

/// Of the conversion on the way to registers.
Obstacle stored_obstacle(const GemmTask& gemm, const GemmOperand& operand, bool from_f32) {
  if (operand.stored == gemm.dtype || (from_f32 && operand.stored == DType::F32)) {
    return "";
  }
  return fmt::format(
      "it is stored as {} and multiplied as {}", dtype_name(operand.stored), dtype_name(gemm.dtype)
  );
}

Obstacle first_of(std::initializer_list<Obstacle> obstacles) {
  const auto* const found = std::find_if(
      obstacles.begin(), obstacles.end(), [](const Obstacle& obstacle) { return !obstacle.empty(); }
  );
  return found == obstacles.end() ? "" : *found;
}

/// To 16-byte asynchronous copies: the bytes lie as they are staged, every chunk is whole and
/// aligned, and they lie in global memory, where such copies read.
Obstacle async_obstacle(const Schedule& schedule, const Task& task, Side side) {
  const GemmTask& gemm = *task.gemm;
  const GemmOperand& operand = operand_of(gemm, side);
  const std::int64_t chunk = 16 / dtype_bytes(gemm.dtype);
  const bool along_k = operand.access.strides[1] == 1;
  const bool is_shared = is_in_shared(schedule.buffers[Index(operand.access.buffer)]);
  return first_of(
      {stored_obstacle(gemm, operand, false),
       is_shared ? "it lies in shared memory already" : "",
       along_k ? multiple_obstacle("K", gemm.k, chunk)
               : multiple_obstacle(side == Side::A ? "M" : "N", operand_rows(task, side), chunk),
       run_obstacle(schedule, operand.access, along_k ? 1 : 0, chunk)}
  );
}

/// To a thread's four elements along k at once, which need no conversion but from f32.
Obstacle quad_obstacle(const Schedule& schedule, const Task& task, Side side) {
  const GemmTask& gemm = *task.gemm;
  return first_of(
      {multiple_obstacle("K", gemm.k, 4),
       stored_obstacle(gemm, operand_of(gemm, side), true),
       run_obstacle(schedule, walked(task, side), 1, 4)}
  );
}

/// To eight of 16 bits, from a multiple of eight on.
Obstacle octet_obstacle(const Schedule& schedule, const Task& task, Side side) {
  const GemmTask& gemm = *task.gemm;
  return first_of(
      {multiple_obstacle("K", gemm.k, 8),
       stored_obstacle(gemm, operand_of(gemm, side), false),
       run_obstacle(schedule, walked(task, side), 1, 8)}
  );
}

/// To `run` rows that are neighbours.
Obstacle rows_obstacle(const Schedule& schedule, const Task& task, Side side, int run) {
  const GemmOperand& operand = operand_of(*task.gemm, side);
  // Of f32, no access is wider than four.
  const int access = operand.stored == DType::F32 ? std::min(run, 4) : run;
  return first_of(
      {stored_obstacle(*task.gemm, operand, true),
       multiple_obstacle(side == Side::A ? "M" : "N", operand_rows(task, side), run),
       run_obstacle(schedule, walked(task, side), 0, access)}
  );
}

/// Whether the epilogue moves f32 between memory and registers, four at once: a turned B would make
/// that two.
bool moves_wide_f32(const Schedule& schedule, const Task& task) {
  const auto is_wide = [&](const Access& access) {
    const Buffer& buffer = schedule.buffers[Index(access.buffer)];
    return buffer.dtype == DType::F32 && !buffer.is_held && is_run(schedule, access, 1, 4);
  };
  return std::any_of(task.stores.begin(), task.stores.end(), [&](const Store& store) {
    return is_wide(store.access);
  });
}

OperandPath direct_path(const Schedule& schedule, const Task& task, Side side) {
  const GemmTask& gemm = *task.gemm;
  const GemmOperand& operand = operand_of(gemm, side);
  OperandPath path;
  const bool mma = gemm.tiling.engine == Engine::Mma;
  path.obstacle = quad_obstacle(schedule, task, side);
  if (path.obstacle.empty()) {
    path.along_k = 4;
    // Plain fma takes steps of four elements of K, and four of f32 are the widest access.
    if (mma && operand.stored != DType::F32) {
      path.obstacle = octet_obstacle(schedule, task, side);
      path.along_k = path.obstacle.empty() ? 8 : 4;
    }
    return path;
  }
  Obstacle of_rows;  // to twice as many rows
  for (const int run : {8, 4, 2}) {
    const Obstacle obstacle = rows_obstacle(schedule, task, side, run);
    if (obstacle.empty()) {
      path.rows = run;
      break;
    }
    of_rows = obstacle;
  }
  if (path.rows > 1 || operand.access.strides[1] != 1) {
    path.obstacle = of_rows;
  }
  path.is_turned = mma && path.rows == 8 && operand.stored == gemm.dtype &&
                   is_in_shared(schedule.buffers[Index(operand.access.buffer)]) &&
                   (side == Side::A || !moves_wide_f32(schedule, task));
  if (!mma && path.rows >= 4) {
    path.obstacle.clear();  // a thread's neighbours are four at most
  }
  return path;
}

}  // namespace

bool is_run(const Schedule& schedule, const Access& access, Index along, std::int64_t count) {
  return run_obstacle(schedule, access, along, count).empty();
}

const GemmOperand& operand_of(const GemmTask& gemm, Side side) {
  return side == Side::A ? gemm.a : gemm.b;
}

std::int64_t operand_rows(const Task& task, Side side) {
  return task.domain[side == Side::A ? 0 : 1];
}

OperandPath operand_path(const Schedule& schedule, const Task& task, Side side) {
  const GemmTiling& tiling = task.gemm->tiling;
  if (tiling.direct) {
    return direct_path(schedule, task, side);
  }
  OperandPath path{.obstacle = async_obstacle(schedule, task, side)};
  path.is_async = path.obstacle.empty();
  return path;
}

EpiloguePath epilogue_path(const Schedule& schedule, const Task& task) {
  const std::int64_t n = task.domain[1];
  const Obstacle odd = multiple_obstacle("N", n, 2);
  if (!odd.empty()) {
    return {.width = 1, .obstacle = odd};
  }
  const Obstacle uneven = multiple_obstacle("N", n, 4);
  if (!uneven.empty()) {
    return {.width = 2, .obstacle = uneven};
  }
  // Four at once, if that suits all accesses for which two would do.
  const auto narrow_obstacle = [&](const Access& access) {
    const Obstacle obstacle = run_obstacle(schedule, access, 1, 4);
    return is_run(schedule, access, 1, 2) && !obstacle.empty()
               ? schedule.buffers[Index(access.buffer)].symbol + ": " + obstacle
               : "";
  };
  for (const ExprNode& node : task.nodes) {
    const Obstacle obstacle = node.kind == ExprNode::Kind::Load ? narrow_obstacle(node.access) : "";
    if (!obstacle.empty()) {
      return {.width = 2, .obstacle = obstacle};
    }
  }
  for (const Store& store : task.stores) {
    if (const Obstacle obstacle = narrow_obstacle(store.access); !obstacle.empty()) {
      return {.width = 2, .obstacle = obstacle};
    }
  }
  return {.width = 4, .obstacle = ""};
}

}  // namespace whet
