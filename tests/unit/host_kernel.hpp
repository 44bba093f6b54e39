#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/files.hpp"
#include "jit/compile.hpp"
#include "jit/executor.hpp"

namespace whet {

/// Opens each kernel of the tests: the argument block of two tensors, and a barrier of bounded
/// spins.
inline constexpr const char* kHostPrelude = R"(
using u32 = unsigned int;
struct StepArguments {
  void* tensors[2];
  void* workspace;
  u32 ring_length, first_batch, spin_limit, refresh;
};
// Word 0 counts arrivals; word 1 is the status.
static bool barrier(const StepArguments& arguments, u32 num_blocks, u32 place) {
  u32* control = static_cast<u32*>(arguments.workspace);
  const u32 arrival = __atomic_add_fetch(control, 1u, __ATOMIC_ACQ_REL);
  const u32 target = (arrival + num_blocks - 1u) / num_blocks * num_blocks;
  for (u32 spin = 0; __atomic_load_n(control, __ATOMIC_ACQUIRE) < target; ++spin) {
    if (spin >= arguments.spin_limit) {
      __atomic_store_n(control + 1, place + 1u, __ATOMIC_RELEASE);
      return false;
    }
  }
  return true;
}
)";

/// Builds and loads kernels for the CPU target. Of `body` the two tensors are `a` and `b`, of
/// floats.
class HostKernels : public testing::Test {
 protected:
  std::unique_ptr<LoadedKernel> load(
      Executor& executor,
      const std::string& body,
      int blocks,
      std::size_t workspace_bytes = 0,
      std::size_t counter_offset_bytes = 0
  ) {
    KernelSource source;
    source.text = std::string(kHostPrelude) +
                  "extern \"C\" void whet_step(const void* argument_block, int block, "
                  "int num_blocks, void* scratch) {\n"
                  "  const auto& arguments = *static_cast<const StepArguments*>(argument_block);\n"
                  "  auto* a = static_cast<float*>(arguments.tensors[0]);\n"
                  "  auto* b = static_cast<float*>(arguments.tensors[1]);\n" +
                  body + "}\n";
    source.plan.blocks = blocks;
    source.plan.dynamic_shared_bytes = 1000;
    source.plan.workspace_bytes = workspace_bytes;
    source.plan.counter_offset_bytes = counter_offset_bytes;
    source.plan.arguments.resize(2);
    CompileOptions options;
    options.cache_folder = folder_.path() / "cache";
    const CompileOutcome outcome = compile(source, options);
    EXPECT_EQ(outcome.status, Status::Ok) << outcome.detail;
    return executor.load(outcome.artifact, source.plan);
  }

  TemporaryFolder folder_{"whet-host-kernel-test-"};
};

}  // namespace whet
