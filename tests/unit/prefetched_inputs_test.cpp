#include "schedule/prefetched_inputs.hpp"

#include <gtest/gtest.h>

#include "schedule/verify.hpp"
#include "support/programs.hpp"
#include "support/schedules.hpp"

namespace whet {
namespace {

using Index = std::size_t;

Program online(bool is_stable = true) {
  Program program = testing::mlp(16, 64, 128, 16, DType::BF16);
  for (ProgramInput& input : program.inputs) {
    input.stable = is_stable;
  }
  return program;
}

Schedule resolved(const Program& program, const std::string& more) {
  return testing::resolved(program, "partition=block inputs=shared " + more, emulated_limits());
}

/// Whether a task reads the buffer.
bool is_read(const Schedule& schedule, int buffer) {
  Schedule copy = schedule;
  return testing::change_tasks(copy, [&](Task& task) {
    bool any =
        task.gemm && (task.gemm->a.access.buffer == buffer || task.gemm->b.access.buffer == buffer);
    for (const ExprNode& node : task.nodes) {
      any = any || (node.kind == ExprNode::Kind::Load && node.access.buffer == buffer);
    }
    return any;
  });
}

TEST(PrefetchedInputs, OfSeveralStepsHaveTwoCopiesEach) {
  const Program program = online(false);
  const Schedule schedule = resolved(program, "steps_per_launch=4");
  ASSERT_EQ(schedule.prefetched.size(), 2U);
  for (const PrefetchedInput& input : schedule.prefetched) {
    const Buffer& copy = schedule.buffers[Index(input.buffer)];
    EXPECT_EQ(copy.storage, Storage::Shared);
    EXPECT_GE(copy.slot_bytes, copy.num_elements * dtype_bytes(copy.dtype));
    EXPECT_TRUE(is_read(schedule, input.buffer));
    EXPECT_FALSE(is_read(schedule, input.input_buffer));
    EXPECT_FALSE(input.is_stable);
  }
  EXPECT_TRUE(find_hazards(program, schedule).empty());
}

TEST(PrefetchedInputs, RowsThatAProductReadsLieInDifferentBanks) {
  const Schedule schedule = resolved(online(), "steps_per_launch=4");
  const PrefetchedInput& x = schedule.prefetched.at(0);
  EXPECT_EQ(x.num_rows, 16);
  EXPECT_EQ(x.row_bytes, 128);
  EXPECT_EQ(x.pitch_bytes, 144);
}

TEST(PrefetchedInputs, OfOneStepComeOnlyWhileTheLaunchBeforeRuns) {
  EXPECT_EQ(resolved(online(), "launch_overlap=on").prefetched.size(), 2U);
  EXPECT_EQ(resolved(online(), "launch_overlap=on").prefetched.at(0).is_stable, true);
  EXPECT_TRUE(resolved(online(), "launch_overlap=off").prefetched.empty());
  EXPECT_TRUE(resolved(online(false), "launch_overlap=on").prefetched.empty());
}

TEST(PrefetchedInputs, StayWhereTheyLieOnRequestAndInSeveralBlocks) {
  for (const char* const configuration :
       {"partition=block inputs=global steps_per_launch=4",
        "partition=grid blocks=4 steps_per_launch=4",
        "partition=cluster blocks=4 steps_per_launch=4"}) {
    EXPECT_TRUE(testing::resolved(online(), configuration, emulated_limits()).prefetched.empty())
        << configuration;
  }
}

TEST(PrefetchedInputs, WhatNoWordsFitStaysWhereItLies) {
  // 9 x 33 and 9 x 7 elements of 2 bytes are no multiple of 4 bytes.
  const Program ragged = testing::mlp(9, 33, 21, 7, DType::BF16);
  EXPECT_TRUE(resolved(ragged, "steps_per_launch=4").prefetched.empty());
  Program shifted = online();
  shifted.inputs[0].alignment_bytes = 8;
  EXPECT_EQ(resolved(shifted, "steps_per_launch=4").prefetched.size(), 1U);
}

TEST(PrefetchedInputs, WhatDoesNotFitStaysWhereItLies) {
  const Schedule all = resolved(online(), "steps_per_launch=4");
  DeviceLimits limits = emulated_limits();
  limits.max_shared_bytes_per_block = all.shared_arena_bytes + all.scratch_bytes - 1;
  const Schedule some =
      testing::resolved(online(), "partition=block inputs=shared steps_per_launch=4", limits);
  EXPECT_EQ(some.prefetched.size(), 1U);
  EXPECT_LE(some.shared_arena_bytes + some.scratch_bytes, limits.max_shared_bytes_per_block);
}

}  // namespace
}  // namespace whet
