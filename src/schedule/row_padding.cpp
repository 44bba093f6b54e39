#include "schedule/row_padding.hpp"

#include <algorithm>

#include "schedule/operand_path.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// Calls `visit(access, extents)` for each access of a task.
template <typename Visit>
void for_each_access(Task& task, const Visit& visit) {
  for (ExprNode& node : task.nodes) {
    if (node.kind == ExprNode::Kind::Load) {
      visit(node.access, task.domain);
    }
  }
  std::vector<std::int64_t> stored = task.domain;
  if (task.reduce) {
    stored.resize(stored.size() - Index(task.reduce->num_reduced_dims));
    stored.push_back(task.reduce->splits);
  }
  for (Store& store : task.stores) {
    visit(store.access, stored);
  }
  if (task.gemm) {
    visit(task.gemm->a.access, std::vector{operand_rows(task, Side::A), task.gemm->k});
    visit(task.gemm->b.access, std::vector{operand_rows(task, Side::B), task.gemm->k});
  }
}

/// How products read a buffer's rows.
struct Readers {
  std::int64_t row_elements = 0;  ///< 0: none does, or rows of several lengths
  bool is_turned = false;         ///< a matrix of eight rows at a time, 16 bytes of each
};

Readers readers_of(const Schedule& schedule, int buffer) {
  Readers readers;
  bool is_uneven = false;
  for (const Phase& phase : schedule.phases) {
    for (const Task& task : phase.tasks) {
      for (const Side side : {Side::A, Side::B}) {
        if (!task.gemm || operand_of(*task.gemm, side).access.buffer != buffer) {
          continue;
        }
        const std::vector<std::int64_t>& strides = operand_of(*task.gemm, side).access.strides;
        const std::int64_t row = std::max(strides[0], strides[1]);
        is_uneven |= std::min(strides[0], strides[1]) != 1 ||
                     (readers.row_elements != 0 && readers.row_elements != row);
        readers.row_elements = row;
        readers.is_turned |= strides[0] == 1;
      }
    }
  }
  return is_uneven ? Readers{} : readers;
}

/// Bytes between rows of `row_bytes`. A turned matrix wants eight rows at different places of 128
/// bytes; loads along k read 64 bytes of two rows.
std::int64_t padded(std::int64_t row_bytes, bool is_turned) {
  if (is_turned && row_bytes % 32 == 0) {
    return row_bytes + 16;
  }
  return row_bytes % 128 == 0 ? row_bytes + 64 : row_bytes;
}

/// Whether each index of the access stays within a row, or goes to the same place of another.
bool keeps_to_rows(
    const Access& access, const std::vector<std::int64_t>& extents, std::int64_t row
) {
  std::int64_t last = access.offset % row;
  for (Index d = 0; d < access.strides.size(); ++d) {
    const std::int64_t stride = access.strides[d];
    if (stride < 0 || (stride >= row && stride % row != 0)) {
      return false;
    }
    last += stride < row ? stride * (extents.at(d) - 1) : 0;
  }
  return last < row;
}

}  // namespace

RowPitch pad_rows(Schedule& schedule, int buffer) {
  Buffer& bytes = schedule.buffers[Index(buffer)];
  const Readers readers = readers_of(schedule, buffer);
  const std::int64_t row = readers.row_elements;
  const RowPitch one_row{bytes.num_elements, bytes.num_elements};
  if (row < 2 || bytes.num_elements % row != 0) {
    return one_row;
  }
  const std::int64_t size = dtype_bytes(bytes.dtype);
  const std::int64_t pitch = padded(row * size, readers.is_turned) / size;
  bool can_move = pitch != row;
  const auto for_each = [&](const auto& visit) {
    for (Phase& phase : schedule.phases) {
      for (Task& task : phase.tasks) {
        for_each_access(task, [&](Access& access, const std::vector<std::int64_t>& extents) {
          if (access.buffer == buffer) {
            visit(access, extents);
          }
        });
      }
    }
  };
  for_each([&](const Access& access, const std::vector<std::int64_t>& extents) {
    can_move = can_move && keeps_to_rows(access, extents, row);
  });
  if (!can_move) {
    return one_row;
  }
  const auto moved = [&](std::int64_t elements) { return elements / row * pitch + elements % row; };
  for_each([&](Access& access, const std::vector<std::int64_t>&) {
    access.offset = moved(access.offset);
    for (std::int64_t& stride : access.strides) {
      stride = moved(stride);
    }
  });
  bytes.num_elements = bytes.num_elements / row * pitch;
  return {row, pitch};
}

}  // namespace whet
