// Where one block keeps state, and how far apart rows lie in its shared memory.
#include "schedule/state_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schedule/verify.hpp"
#include "support/programs.hpp"
#include "support/schedules.hpp"

namespace whet {
namespace {

using Index = std::size_t;

const Task& task_named(const Schedule& schedule, const std::string& name) {
  for (const Phase& phase : schedule.phases) {
    for (const Task& task : phase.tasks) {
      if (task.name == name) {
        return task;
      }
    }
  }
  throw std::out_of_range(name);
}

Schedule resolved(const std::string& configuration, DType dtype = DType::BF16) {
  return testing::resolved(testing::mlp(16, 64, 128, 16, dtype), configuration, emulated_limits());
}

std::int64_t count(const Schedule& schedule, bool Buffer::*is) {
  return std::count_if(schedule.buffers.begin(), schedule.buffers.end(), [&](const Buffer& buffer) {
    return buffer.*is;
  });
}

TEST(StatePlaces, WeightsInRegistersLeaveCopiesInSharedMemory) {
  const Schedule schedule =
      resolved("partition=block threads=256 weights=registers steps_per_launch=4");
  EXPECT_EQ(count(schedule, &Buffer::is_held), 2) << "the weights";
  EXPECT_EQ(count(schedule, &Buffer::is_resident), 2) << "the biases, which sums update";
  ASSERT_EQ(schedule.shadows.size(), 2U);
  for (const Shadow& shadow : schedule.shadows) {
    EXPECT_EQ(schedule.buffers[Index(shadow.buffer)].storage, Storage::Shared);
    EXPECT_TRUE(schedule.buffers[Index(shadow.state_buffer)].is_held);
  }
  EXPECT_TRUE(keeps_state(schedule));
  EXPECT_FALSE(has_persistent_shadows(schedule));
  EXPECT_EQ(schedule.persistent_bytes, 0);
}

TEST(StatePlaces, TeamsUseTheSameRegisters) {
  // 8192 weights by four warps, 2048 by two, side by side.
  const Schedule teams = resolved("partition=block threads=256 weights=registers");
  EXPECT_EQ(teams.state_words, 64);
  // By all eight warps, one after the other.
  const Schedule alone = resolved("partition=block threads=256 weights=registers teams=off");
  EXPECT_EQ(alone.state_words, 32 + 8);
}

TEST(StatePlaces, StateThatProductsReadAsItIsStaysInSharedMemory) {
  const Schedule schedule = resolved("partition=block weights=registers", DType::F32);
  EXPECT_EQ(count(schedule, &Buffer::is_held), 0);
  EXPECT_EQ(count(schedule, &Buffer::is_resident), 4);
}

TEST(StatePlaces, MoreStateThanAQuarterOfTheRegistersIsNotHeld) {
  const Schedule schedule = resolved("partition=block weights=registers threads=512 teams=off");
  EXPECT_EQ(schedule.state_words, 16 + 2 * 4) << "one tile, and two";
  const Schedule many = testing::resolved(
      testing::mlp(16, 256, 128, 16, DType::BF16),
      "partition=block weights=registers",
      emulated_limits()
  );
  EXPECT_EQ(many.state_words, 0);
  EXPECT_EQ(count(many, &Buffer::is_held), 0);
}

TEST(StatePlaces, TheGridLeavesStateWhereItLies) {
  EXPECT_FALSE(keeps_state(resolved("partition=grid weights=registers")));
}

/// Bytes from row to row of what a product reads.
std::int64_t row_bytes(const Schedule& schedule, const GemmOperand& operand) {
  const auto& strides = operand.access.strides;
  const Buffer& buffer = schedule.buffers[Index(operand.access.buffer)];
  return std::max(strides[0], strides[1]) * dtype_bytes(buffer.dtype);
}

TEST(RowPadding, EightRowsOfATurnedMatrixLieInDifferentBanks) {
  const Schedule schedule = resolved("partition=block threads=256 weights=registers");
  const GemmOperand& w1 = task_named(schedule, "mm1").gemm->b;
  ASSERT_EQ(w1.access.strides[0], 1) << "it lies along its rows";
  std::set<std::int64_t> places;
  for (std::int64_t row = 0; row < 8; ++row) {
    places.insert(row * row_bytes(schedule, w1) % 128);
  }
  EXPECT_EQ(places.size(), 8U);
}

TEST(RowPadding, AllThatTouchesABufferKnowsItsRows) {
  const Program program = testing::mlp(16, 64, 128, 16, DType::BF16);
  Schedule schedule =
      testing::resolved(program, "partition=block weights=registers", emulated_limits());
  EXPECT_TRUE(find_hazards(program, schedule).empty());
  const GemmOperand& h = task_named(schedule, "mm2").gemm->a;
  for (const Store& store : task_named(schedule, "mm1").stores) {
    EXPECT_EQ(store.access.strides, h.access.strides);
  }
}

TEST(RowPadding, GlobalMemoryIsLeftAsItIs) {
  const Schedule schedule = resolved("partition=grid blocks=8");
  const GemmOperand& h = task_named(schedule, "mm2").gemm->a;
  EXPECT_EQ(row_bytes(schedule, h), 256);
}

}  // namespace
}  // namespace whet
