#include "codegen/launch.hpp"

#include <utility>

#include "codegen/phase_text.hpp"
#include "schedule/early_reads.hpp"
#include "schedule/phases.hpp"
#include "schedule/state_places.hpp"

namespace whet {
namespace {

KernelArgument::Role role_of(const Program& program, int argument, int& index) {
  const int counts[] = {
      static_cast<int>(program.inputs.size()),
      static_cast<int>(program.scalars.size()),
      static_cast<int>(program.state.size()),
      static_cast<int>(program.outputs.size())};
  int role = 0;
  index = argument;
  while (role < 3 && index >= counts[role]) {
    index -= counts[role++];
  }
  return static_cast<KernelArgument::Role>(role);
}

}  // namespace

LaunchPlan plan_launch(
    const Program& program,
    const Schedule& schedule,
    const DeviceLimits& limits,
    std::string workload_key
) {
  LaunchPlan plan;
  plan.target = schedule.target;
  plan.arch = limits.arch;
  plan.workload_key = std::move(workload_key);
  plan.blocks = schedule.blocks;
  plan.threads = schedule.threads;
  plan.min_blocks_per_sm = schedule.blocks_per_sm;
  plan.dynamic_shared_bytes =
      static_cast<std::size_t>(schedule.shared_arena_bytes + schedule.scratch_bytes);
  plan.workspace_bytes = LaunchPlan::kControlBytes +
                         static_cast<std::size_t>(schedule.persistent_bytes + schedule.arena_bytes);
  plan.cluster = schedule.partition == Partition::Cluster;
  plan.cooperative = schedule.target != Target::Cpu && schedule.blocks > 1 && !plan.cluster;
  plan.overlaps = schedule.overlaps;
  plan.has_shadows = has_persistent_shadows(schedule);
  plan.steps_per_launch = schedule.steps_per_launch;
  if (schedule.counts_batches) {
    plan.counter_offset_bytes =
        static_cast<std::size_t>(in_arena(static_cast<std::int64_t>(plan.workspace_bytes)));
    plan.workspace_bytes =
        plan.counter_offset_bytes + static_cast<std::size_t>(plan.blocks) * sizeof(std::uint32_t);
  }
  for (const Buffer& buffer : schedule.buffers) {
    if (buffer.storage != Storage::Argument) {
      continue;
    }
    KernelArgument argument{
        .dtype = buffer.dtype,
        .extent_elements = buffer.num_elements,
        .step_stride_elements = buffer.step_stride_elements};
    argument.role = role_of(program, buffer.argument, argument.index);
    plan.arguments.push_back(argument);
  }
  // Kernel parameters beyond 4 KiB need a newer driver than sm_80 users have.
  constexpr std::size_t kMaxParameterBytes = 4096;
  plan.arguments_in_memory = schedule.target != Target::Cpu &&
                             (plan.arguments.size() + 1) * sizeof(void*) + 16 > kMaxParameterBytes;
  return plan;
}

bool waits_in_tiles(const Schedule& schedule, const LaunchPlan& plan, std::size_t phase_idx) {
  const Phase& phase = schedule.phases[phase_idx];
  if (schedule.target == Target::Cpu || !reads_early(phase)) {
    return false;
  }
  return phase_idx == 0 ? schedule.overlaps && !plan.arguments_in_memory
                        : is_between_blocks(phase.edge_before);
}

void add_stamps(LaunchPlan& plan, const Schedule& schedule) {
  const auto first_byte = in_arena(static_cast<std::int64_t>(plan.workspace_bytes));
  StampPlan stamps{.offset_bytes = static_cast<std::size_t>(first_byte), .phases = {}};
  for (std::size_t p = 0; p < schedule.phases.size(); ++p) {
    const Phase& phase = schedule.phases[p];
    StampedPhase stamped{
        .tasks = {},
        .edge_before = p == 0 ? Edge::None : phase.edge_before,
        .waits_in_tiles = waits_in_tiles(schedule, plan, p),
        .has_teams = has_teams(phase)};
    for (const Task& task : phase.tasks) {
      stamped.tasks.push_back(task.name);
    }
    stamps.phases.push_back(std::move(stamped));
  }
  plan.workspace_bytes = stamps.offset_bytes + static_cast<std::size_t>(plan.blocks) *
                                                   stamps.words_per_block() * sizeof(std::uint64_t);
  plan.stamps = std::move(stamps);
}

}  // namespace whet
