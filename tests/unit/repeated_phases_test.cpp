#include "schedule/repeated_phases.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/programs.hpp"
#include "support/schedules.hpp"

namespace whet {
namespace {

using Index = std::size_t;

Schedule on_cluster(const Program& program, const std::string& more = "") {
  return testing::resolved(program, "partition=cluster blocks=4 " + more, emulated_limits());
}

std::vector<bool> repeated(const Schedule& schedule) {
  std::vector<bool> list;
  for (const Phase& phase : schedule.phases) {
    list.push_back(phase.is_repeated);
  }
  return list;
}

std::set<std::string> names(const Phase& phase) {
  std::set<std::string> set;
  for (const Task& task : phase.tasks) {
    set.insert(task.name);
  }
  return set;
}

Program online() { return testing::mlp(16, 64, 128, 16, DType::BF16); }

TEST(RepeatedPhases, TheNarrowProductIsEachBlocksOwn) {
  const Schedule schedule = on_cluster(online());
  EXPECT_EQ(repeated(schedule), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(schedule.phases[1].edge_before, Edge::Cluster);
  EXPECT_EQ(schedule.phases[2].edge_before, Edge::Block);
  EXPECT_EQ(schedule.phases[3].edge_before, Edge::Cluster);
  for (const Task& task : schedule.phases[1].tasks) {
    for (const Store& store : task.stores) {
      EXPECT_EQ(schedule.buffers[Index(store.access.buffer)].storage, Storage::Shared);
    }
  }
  EXPECT_GT(schedule.shared_arena_bytes, 0);
}

TEST(RepeatedPhases, AnUpdateOfWhatThePhaseReadsWaitsForAllBlocks) {
  const Schedule off = on_cluster(online(), "repeat_cheap=off");
  EXPECT_TRUE(names(off.phases[2]).contains("sum2")) << "the bias of the narrow product";
  const Schedule on = on_cluster(online());
  EXPECT_FALSE(names(on.phases[2]).contains("sum2"));
  EXPECT_TRUE(names(on.phases[3]).contains("sum2"));
}

TEST(RepeatedPhases, WhatIsNotCheapIsShared) {
  const Program small = testing::mlp(64, 256, 512, 128, DType::BF16);
  EXPECT_EQ(repeated(on_cluster(small)), (std::vector<bool>{false, false, false, false}));
}

TEST(RepeatedPhases, WithoutAPhaseForTheUpdatesNothingIsRepeated) {
  const Schedule schedule = on_cluster(testing::head(32, 128, 10, DType::BF16));
  EXPECT_EQ(repeated(schedule), (std::vector<bool>{false, false}));
}

TEST(RepeatedPhases, OneBlockHasNoneAndOffMeansNone) {
  const Schedule block = testing::resolved(online(), "partition=block", emulated_limits());
  EXPECT_EQ(repeated(block), (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(
      repeated(on_cluster(online(), "repeat_cheap=off")),
      (std::vector<bool>{false, false, false, false})
  );
}

}  // namespace
}  // namespace whet
