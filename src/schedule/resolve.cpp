#include "schedule/resolve.hpp"

#include <utility>

#include "base/error.hpp"
#include "schedule/constraints.hpp"
#include "schedule/early_reads.hpp"
#include "schedule/phases.hpp"
#include "schedule/prefetched_inputs.hpp"
#include "schedule/repeated_phases.hpp"
#include "schedule/row_padding.hpp"
#include "schedule/shadows.hpp"
#include "schedule/state_places.hpp"
#include "schedule/tasks.hpp"
#include "schedule/teams.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

FusionOptions fusion_options(const Configuration& configuration) {
  return {
      .pointwise = flag_knob(configuration, "fuse_pointwise"),
      .epilogue = flag_knob(configuration, "fuse_epilogue"),
      .update = flag_knob(configuration, "fuse_update"),
      .inline_casts = flag_knob(configuration, "inline_casts")};
}

Schedule launch_shape(const Configuration& configuration, Target target) {
  Schedule schedule{.configuration = configuration, .target = target};
  const std::string& partition = knob(configuration, "", "partition");
  schedule.partition = partition == "block"     ? Partition::Block
                       : partition == "cluster" ? Partition::Cluster
                                                : Partition::Grid;
  schedule.blocks = static_cast<int>(int_knob(configuration, "", "blocks"));
  schedule.steps_per_launch = static_cast<int>(int_knob(configuration, "", "steps_per_launch"));
  if (schedule.partition == Partition::Block) {
    schedule.blocks = 1;
  }
  schedule.counts_batches = knob(configuration, "", "step_number") == "device";
  if (target != Target::Cpu) {
    schedule.threads = static_cast<int>(int_knob(configuration, "", "threads"));
    schedule.blocks_per_sm = static_cast<int>(int_knob(configuration, "", "blocks_per_sm"));
    schedule.overlaps = configuration.values.contains("launch_overlap") &&
                        flag_knob(configuration, "launch_overlap");
  }
  return schedule;
}

/// Gives what passes between phases places in the block's shared memory, if that leaves room for
/// staging.
bool place_in_shared(Schedule& schedule, const DeviceLimits& limits) {
  const std::int64_t bytes = place_in_arena(schedule.phases, Storage::Workspace, schedule.buffers);
  if (bytes + schedule.scratch_bytes > limits.max_shared_bytes_per_block) {
    return false;
  }
  schedule.shared_arena_bytes = bytes;
  for (Buffer& buffer : schedule.buffers) {
    if (buffer.storage == Storage::Workspace) {
      buffer.storage = Storage::Shared;
    }
  }
  return true;
}

/// One block that owns everything keeps what passes between its phases in its shared memory, if
/// that leaves room for staging; of several, each keeps what it repeats.
void place_buffers(Schedule& schedule, const DeviceLimits& limits) {
  place_scratch(schedule);
  for (const Shadow& shadow : schedule.shadows) {
    Buffer& buffer = schedule.buffers[static_cast<std::size_t>(shadow.buffer)];
    buffer.offset_bytes = schedule.persistent_bytes;
    schedule.persistent_bytes += in_arena(buffer.num_elements * dtype_bytes(buffer.dtype));
  }
  if (schedule.partition == Partition::Block && schedule.target != Target::Cpu) {
    Schedule padded = schedule;
    for (std::size_t b = 0; b < padded.buffers.size(); ++b) {
      if (padded.buffers[b].storage == Storage::Workspace) {
        pad_rows(padded, static_cast<int>(b));
      }
    }
    if (place_in_shared(padded, limits)) {
      schedule = std::move(padded);
      return;
    }
    if (place_in_shared(schedule, limits)) {
      return;
    }
  }
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
    if (schedule.buffers[b].storage == Storage::Shared) {
      pad_rows(schedule, static_cast<int>(b));
    }
  }
  schedule.shared_arena_bytes = place_in_arena(schedule.phases, Storage::Shared, schedule.buffers);
  schedule.arena_bytes = place_in_arena(schedule.phases, Storage::Workspace, schedule.buffers);
}

}  // namespace

std::variant<Schedule, ConstraintViolation> resolve(
    const Program& program, const Configuration& configuration, const DeviceLimits& limits
) {
  const SearchSpace space(program, limits);
  const Configuration complete = space.complete(configuration);
  if (const auto why = space.why_not_member(complete)) {
    return ConstraintViolation{"membership", *why};
  }
  Schedule schedule = launch_shape(complete, limits.target);
  const bool is_kept = limits.target != Target::Cpu && schedule.partition == Partition::Block &&
                       knob(complete, "", "weights") != "global";
  const bool in_registers = is_kept && knob(complete, "", "weights") == "registers";
  // Of state in registers, others see copies alone.
  const bool shadows =
      in_registers || (complete.values.contains("shadows") && flag_knob(complete, "shadows"));
  const ShadowedProgram shadowed = shadows ? with_shadows(program) : without_shadows(program);
  TaskGraph graph = build_tasks(shadowed, fusion_options(complete));
  for (Task& task : graph.tasks) {
    collapse_dimensions(task);
  }
  split_reductions(graph, schedule.blocks, schedule.threads, schedule.target);
  order_tasks(shadowed.program, graph);
  schedule.num_staged_commits = graph.num_staged_commits;
  schedule.phases = place_in_phases(graph);
  schedule.buffers = std::move(graph.buffers);
  schedule.shadows = std::move(graph.shadows);
  if (limits.target != Target::Cpu && schedule.blocks > 1 && flag_knob(complete, "repeat_cheap")) {
    repeat_cheap_phases(schedule);
  }
  assign_teams(complete, schedule);
  if (auto violation = choose_tiles(complete, limits, schedule)) {
    return *violation;
  }
  place_edges(schedule);
  place_buffers(schedule, limits);
  if (is_kept) {
    keep_state(program, limits, in_registers, schedule);
  }
  if (limits.target != Target::Cpu && schedule.partition == Partition::Block &&
      knob(complete, "", "inputs") == "shared") {
    prefetch_inputs(program, limits, schedule);
  }
  if (limits.target != Target::Cpu && flag_knob(complete, "early_reads")) {
    mark_early_reads(program, limits, schedule);
  }
  if (auto violation = first_violation(schedule, limits)) {
    return *violation;
  }
  return schedule;
}

}  // namespace whet
