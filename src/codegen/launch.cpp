#include "codegen/launch.hpp"

#include <utility>

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
  plan.cooperative = schedule.target != Target::Cpu && schedule.blocks > 1;
  plan.overlaps = schedule.overlaps;
  plan.has_shadows = !schedule.shadows.empty();
  plan.steps_per_launch = schedule.steps_per_launch;
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

}  // namespace whet
