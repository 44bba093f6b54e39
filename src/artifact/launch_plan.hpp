#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "artifact/stamp_plan.hpp"
#include "base/json.hpp"
#include "ir/program.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// One pointer of the kernel's argument table.
struct KernelArgument {
  enum class Role { Input, Scalar, State, Output };
  Role role = Role::Input;
  int index = 0;  ///< position in Program::inputs, scalars, state or outputs
  DType dtype = DType::F32;
  std::int64_t extent_elements = 0;  ///< storage of one step's tensor, strides included
  /// Elements from one batch of an input's ring, or one step's scalar or output, to the next.
  /// 0 for state. Inputs: a multiple of 16 bytes.
  std::int64_t step_stride_elements = 0;

  bool operator==(const KernelArgument&) const = default;
};

/// How to launch a kernel, with nothing left to decide. The argument block of every target is
///   struct StepArguments { void* tensors[N]; void* workspace; uint32_t ring_length, first_batch,
///                          spin_limit, refresh; };
/// with tensors in the order of `arguments`. An input points to `ring_length` batches; step s of
/// the launch reads batch (first_batch + s) % ring_length, and first_batch is below ring_length;
/// a kernel that counts batches takes a word of the workspace in its place, which it moves on.
/// Scalars and outputs point to steps_per_launch entries. The workspace starts with kControlBytes
/// of control words, all zero before the first launch: word 0 barrier, word 1 status (0: fine; else
/// a block left a spin at place status - 1). A launch whose `refresh` is not 0 does no step: it
/// makes the workspace fit the state again, which a kernel that `has_shadows` needs before its
/// first step and whenever others wrote the state.
struct LaunchPlan {
  static constexpr std::size_t kControlBytes = 256;

  Target target = Target::Cpu;
  std::string arch;
  std::string entry = "whet_step";
  std::string workload_key;
  int blocks = 1;   ///< threads of the pool on the CPU target
  int threads = 1;  ///< 1 on the CPU target
  int min_blocks_per_sm = 1;
  std::size_t dynamic_shared_bytes = 0;  ///< scratch bytes a block on the CPU target
  std::size_t workspace_bytes = 0;       ///< with the control words
  bool cooperative = false;
  bool cluster = false;   ///< the blocks are one cluster (sm_90 and later)
  bool overlaps = false;  ///< may start before its predecessor ends, for which the kernel waits
  bool arguments_in_memory = false;  ///< the block is passed by pointer, being too large
  bool has_shadows = false;          ///< the workspace holds copies of state
  int steps_per_launch = 1;
  /// Of the words in the workspace, one for each block, that say which batch comes next; 0: the
  /// arguments say.
  std::size_t counter_offset_bytes = 0;
  std::vector<KernelArgument> arguments;
  std::optional<StampPlan> stamps;  ///< of a profile build

  bool operator==(const LaunchPlan&) const = default;
};

Json to_json(const LaunchPlan& plan);
LaunchPlan launch_plan_from_json(const Json& json);

/// Generated text with how to compile and launch it.
struct KernelSource {
  std::string text;
  LaunchPlan plan;
};

}  // namespace whet
