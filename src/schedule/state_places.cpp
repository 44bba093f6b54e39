#include "schedule/state_places.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "schedule/operand_path.hpp"
#include "schedule/phases.hpp"
#include "schedule/reads.hpp"
#include "schedule/row_padding.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

bool is_dense_state(const Program& program, const Buffer& buffer) {
  const auto first_state = static_cast<int>(program.inputs.size() + program.scalars.size());
  const int state = buffer.argument - first_state;
  if (buffer.storage != Storage::Argument || state < 0 || Index(state) >= program.state.size()) {
    return false;
  }
  const TensorDesc& tensor = program.value(program.state[Index(state)].before);
  return tensor.strides == contiguous_strides(tensor.shape);
}

/// The only task that reads or writes a buffer, or null.
const Task* only_user(const Schedule& schedule, int buffer) {
  const Task* user = nullptr;
  bool has_more = false;
  const auto note = [&](const Task& task, const Access& access) {
    if (access.buffer == buffer) {
      has_more |= user != nullptr && user != &task;
      user = &task;
    }
  };
  for (const Phase& phase : schedule.phases) {
    for (const Task& task : phase.tasks) {
      for_each_read(task, [&](const Access& access, ValueId, bool) { note(task, access); });
      for (const Store& store : task.stores) {
        note(task, store.access);
      }
    }
  }
  return has_more ? nullptr : user;
}

/// Whether the epilogue of `task`, which alone uses a buffer, replaces each element that it reads.
bool replaces_in_epilogue(const Task& task, int buffer) {
  if (!task.gemm || !task.gemm->tiling.direct || task.gemm->a.access.buffer == buffer ||
      task.gemm->b.access.buffer == buffer) {
    return false;
  }
  const Access* written = nullptr;
  for (const Store& store : task.stores) {
    if (store.access.buffer == buffer) {
      if (written != nullptr) {
        return false;
      }
      written = &store.access;
    }
  }
  bool is_read = false;
  for (const ExprNode& node : task.nodes) {
    if (node.kind == ExprNode::Kind::Load && node.access.buffer == buffer) {
      if (written == nullptr || node.access != *written || node.access.guard) {
        return false;
      }
      is_read = true;
    }
  }
  return is_read;
}

/// Elements of a tile that a thread of the team has in its epilogue.
std::int64_t elements_of_thread(const Schedule& schedule, const Task& task) {
  const GemmTiling& tiling = task.gemm->tiling;
  const std::int64_t threads = num_threads(task);
  if (tiling.split_k == 1) {
    const std::int64_t sums = *accumulators(tiling, threads);
    return sums / std::min<std::int64_t>(tiling.k_lanes, sums);
  }
  const std::int64_t width = epilogue_path(schedule, task).width;
  return ceil_div(tiling.tile_m * tiling.tile_n / width, threads) * width;
}

/// Gives tasks registers for what they hold: teams side by side use the same ones. Returns how many
/// a thread needs.
std::int64_t place_words(Schedule& schedule) {
  std::int64_t most = 0;
  std::int64_t begin = 0;  // tasks of other phases have their own, whatever their team
  for (Phase& phase : schedule.phases) {
    std::map<int, std::int64_t> ends;  // by a team's first warp
    for (Task& task : phase.tasks) {
      std::int64_t& end = ends.emplace(task.first_warp, begin).first->second;
      task.first_state_word = static_cast<int>(end);
      end += task.num_tiles * held_words_of_tile(schedule, task);
      most = std::max(most, end);
    }
    begin = most;
  }
  return most;
}

/// Holds as much state as a quarter of a thread's registers takes, or none.
void hold_in_registers(const Program& program, Schedule& schedule) {
  Schedule held = schedule;
  for (Index b = 0; b < held.buffers.size(); ++b) {
    Buffer& buffer = held.buffers[b];
    const Task* const user = only_user(held, static_cast<int>(b));
    buffer.is_held = is_dense_state(program, buffer) && buffer.dtype == DType::F32 &&
                     user != nullptr && replaces_in_epilogue(*user, static_cast<int>(b));
  }
  held.state_words = static_cast<int>(place_words(held));
  if (held.state_words <= ceil_div(registers_of_thread(held), 4)) {
    schedule = std::move(held);
  }
}

/// Gives a buffer bytes of the shared arena from `end` on.
void append_to_arena(Buffer& buffer, std::int64_t& end) {
  buffer.offset_bytes = end;
  end += in_arena(buffer.num_elements * dtype_bytes(buffer.dtype));
}

}  // namespace

void keep_state(
    const Program& program, const DeviceLimits& limits, bool in_registers, Schedule& schedule
) {
  if (in_registers) {
    hold_in_registers(program, schedule);
  }
  Schedule kept = schedule;
  for (const Shadow& shadow : kept.shadows) {
    kept.buffers[Index(shadow.buffer)].storage = Storage::Shared;
    if (kept.buffers[Index(shadow.state_buffer)].is_held) {
      pad_rows(kept, shadow.buffer);  // other copies are made as dense as their state
    }
  }
  std::int64_t end = kept.shared_arena_bytes;
  for (Buffer& buffer : kept.buffers) {
    if (is_dense_state(program, buffer) && !buffer.is_held) {
      buffer.is_resident = true;
      append_to_arena(buffer, end);
    }
  }
  for (const Shadow& shadow : kept.shadows) {
    append_to_arena(kept.buffers[Index(shadow.buffer)], end);
  }
  kept.shared_arena_bytes = end;
  kept.persistent_bytes = 0;  // the copies were all that persisted
  if (end + kept.scratch_bytes <= limits.max_shared_bytes_per_block) {
    schedule = std::move(kept);
  }
}

bool keeps_state(const Schedule& schedule) {
  return std::any_of(schedule.buffers.begin(), schedule.buffers.end(), [](const Buffer& buffer) {
    return buffer.is_resident || buffer.is_held;
  });
}

bool has_persistent_shadows(const Schedule& schedule) {
  return std::any_of(schedule.shadows.begin(), schedule.shadows.end(), [&](const Shadow& shadow) {
    return schedule.buffers[Index(shadow.buffer)].storage == Storage::Persistent;
  });
}

std::vector<int> held_buffers(const Schedule& schedule, const Task& task) {
  std::vector<int> held;
  for (const Store& store : task.stores) {
    if (schedule.buffers[Index(store.access.buffer)].is_held) {
      held.push_back(store.access.buffer);
    }
  }
  return held;
}

std::int64_t held_words_of_tile(const Schedule& schedule, const Task& task) {
  const auto held = static_cast<std::int64_t>(held_buffers(schedule, task).size());
  return held == 0 ? 0 : held * elements_of_thread(schedule, task);
}

}  // namespace whet
