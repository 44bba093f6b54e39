#include "schedule/prefetched_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schedule/phases.hpp"
#include "schedule/row_padding.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// Has tasks read the copy in the place of the input. Returns whether any does.
bool redirect_reads(Schedule& schedule, int from, int to) {
  bool any = false;
  const auto redirect = [&](Access& access) {
    if (access.buffer == from) {
      access.buffer = to;
      any = true;
    }
  };
  for (Phase& phase : schedule.phases) {
    for (Task& task : phase.tasks) {
      for (ExprNode& node : task.nodes) {
        redirect(node.access);
      }
      if (task.gemm) {
        redirect(task.gemm->a.access);
        redirect(task.gemm->b.access);
      }
    }
  }
  return any;
}

/// The schedule with a copy of the input in `input_buffer` at the end of the shared arena.
Schedule with_copy(const Schedule& schedule, int input_buffer, bool is_stable) {
  Schedule result = schedule;
  const auto copy_buffer = static_cast<int>(result.buffers.size());
  const Buffer& input = schedule.buffers[Index(input_buffer)];
  result.buffers.push_back(
      {.symbol = fmt::format("t{}", copy_buffer),
       .dtype = input.dtype,
       .num_elements = input.num_elements,
       .storage = Storage::Shared,
       .offset_bytes = schedule.shared_arena_bytes}
  );
  if (!redirect_reads(result, input_buffer, copy_buffer)) {
    return schedule;
  }
  const std::int64_t size = dtype_bytes(input.dtype);
  const RowPitch rows = pad_rows(result, copy_buffer);
  Buffer& copy = result.buffers.back();
  const std::int64_t bytes = in_arena(copy.num_elements * size);
  const bool has_two = schedule.steps_per_launch > 1;
  copy.slot_bytes = has_two ? bytes : 0;
  result.shared_arena_bytes += has_two ? 2 * bytes : bytes;
  result.prefetched.push_back(
      {.input_buffer = input_buffer,
       .buffer = copy_buffer,
       .num_rows = input.num_elements / rows.row_elements,
       .row_bytes = rows.row_elements * size,
       .pitch_bytes = rows.pitch_elements * size,
       .is_stable = is_stable}
  );
  return result;
}

/// Copies go by words of 16 and of 4 bytes.
bool can_be_copied(const Buffer& input) {
  return input.num_elements > 0 && input.alignment_bytes % 16 == 0 &&
         input.num_elements * dtype_bytes(input.dtype) % 4 == 0;
}

}  // namespace

void prefetch_inputs(const Program& program, const DeviceLimits& limits, Schedule& schedule) {
  const Index num_buffers = schedule.buffers.size();
  for (Index b = 0; b < num_buffers; ++b) {
    const Buffer& buffer = schedule.buffers[b];
    if (buffer.storage != Storage::Argument || Index(buffer.argument) >= program.inputs.size() ||
        !can_be_copied(buffer)) {
      continue;
    }
    // Which batch it is, is known behind the wait if the launches before count.
    const bool is_stable =
        program.inputs[Index(buffer.argument)].stable && !schedule.counts_batches;
    if (schedule.steps_per_launch == 1 && !(is_stable && schedule.overlaps)) {
      continue;
    }
    Schedule copied = with_copy(schedule, static_cast<int>(b), is_stable);
    if (copied.shared_arena_bytes + copied.scratch_bytes <= limits.max_shared_bytes_per_block) {
      schedule = std::move(copied);
    }
  }
}

}  // namespace whet
