// Schedules that are wrong, each caught by find_hazards, which passes the schedule they were made
// of. What is wrong inside a task is beyond it: kernel_mutation_test and arithmetic_mutation_test.
//
//   dropped barrier, swapped phases      here, and dropped barriers by the emulation too
//   unwritten output, state not updated  here, and by the validation too
//   skipped tail mask, missing wait on an async copy
//                                        by the emulation
//   half the gradient, omitted gradient term, dropped rounding, wrong step parity
//                                        by the validation, or the comparison with an interpreter
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schedule/reads.hpp"
#include "schedule/verify.hpp"
#include "support/programs.hpp"
#include "support/schedules.hpp"

namespace whet {
namespace {

using Index = std::size_t;

struct Case {
  std::string name;
  Program program;
  std::string configuration;
  DeviceLimits limits = emulated_limits();
};

std::vector<Case> cases() {
  DeviceLimits cpu = host_limits(1);
  cpu.num_sms = 2;
  return {
      {"mlp_grid", testing::mlp(9, 33, 21, 7, DType::BF16), "partition=grid blocks=4"},
      {"mlp_block", testing::mlp(9, 33, 21, 7, DType::BF16), "partition=block"},
      {"mlp_unfused",
       testing::mlp(9, 33, 21, 7, DType::F32),
       "partition=grid blocks=8 fuse_pointwise=off fuse_epilogue=off fuse_update=off "
       "inline_casts=off"},
      {"mlp_launches_of_four",
       testing::mlp(9, 33, 21, 7, DType::BF16),
       "partition=grid blocks=2 steps_per_launch=4"},
      {"tied_staged_commit", testing::tied(12, 24, 40, DType::BF16), "partition=grid blocks=4"},
      {"residual", testing::residual(10, 36, DType::F32), "partition=block"},
      {"cpu", testing::mlp(9, 33, 21, 7, DType::BF16), "partition=grid blocks=2", cpu},
      {"cpu_swap", testing::swap(5, 7), "partition=grid blocks=2 steps_per_launch=4", cpu},
      {"mlp_resident",
       testing::mlp(9, 33, 21, 7, DType::BF16),
       "partition=block weights=resident steps_per_launch=4"},
      {"mlp_registers",
       testing::mlp(9, 33, 21, 7, DType::BF16),
       "partition=block weights=registers steps_per_launch=4"},
      {"mlp_cluster",
       testing::mlp(9, 33, 21, 7, DType::BF16),
       "partition=cluster blocks=4 steps_per_launch=4"},
      {"mlp_repeated",
       testing::mlp(16, 64, 128, 16, DType::BF16),
       "partition=cluster blocks=4 steps_per_launch=4"},
      {"mlp_prefetched",
       testing::mlp(16, 64, 128, 16, DType::BF16),
       "partition=block inputs=shared steps_per_launch=4"},
  };
}

class ScheduleMutation : public ::testing::TestWithParam<int> {
 protected:
  const Case case_ = cases()[static_cast<std::size_t>(GetParam())];
  const Schedule good_ = testing::resolved(case_.program, case_.configuration, case_.limits);

  std::vector<std::string> hazards(const Schedule& schedule) const {
    return find_hazards(case_.program, schedule);
  }
  /// Whether a task loads what was stored, or the caller sees it.
  bool is_used(const Store& store) const {
    const int buffer = store.access.buffer;
    bool used = good_.buffers[static_cast<std::size_t>(buffer)].storage == Storage::Argument;
    for (const Phase& phase : good_.phases) {
      for (const Task& task : phase.tasks) {
        for (const ExprNode& node : task.nodes) {
          used = used || (node.kind == ExprNode::Kind::Load && node.access.buffer == buffer);
        }
        used = used || (task.gemm && (task.gemm->a.access.buffer == buffer ||
                                      task.gemm->b.access.buffer == buffer));
      }
    }
    return used;
  }
  bool is_caught(const Schedule& schedule) const { return !hazards(schedule).empty(); }
};

TEST_P(ScheduleMutation, UnmutatedPasses) { EXPECT_EQ(hazards(good_), std::vector<std::string>()); }

TEST_P(ScheduleMutation, DroppedBarrierIsCaughtByFindHazards) {
  ASSERT_GT(good_.phases.size(), 1U);
  for (std::size_t p = 1; p < good_.phases.size(); ++p) {
    Schedule bad = good_;
    ASSERT_NE(bad.phases[p].edge_before, Edge::None);
    bad.phases[p].edge_before = Edge::None;
    EXPECT_TRUE(is_caught(bad)) << "before phase " << p;
  }
}

TEST_P(ScheduleMutation, SwappedPhasesAreCaughtByFindHazards) {
  for (std::size_t p = 1; p < good_.phases.size(); ++p) {
    Schedule bad = good_;
    std::swap(bad.phases[p - 1].tasks, bad.phases[p].tasks);
    EXPECT_TRUE(is_caught(bad)) << "phases " << p - 1 << " and " << p;
  }
}

TEST_P(ScheduleMutation, MergedPhasesAreCaughtByFindHazards) {
  for (std::size_t p = 1; p < good_.phases.size(); ++p) {
    Schedule bad = good_;
    std::vector<Task>& tasks = bad.phases[p - 1].tasks;
    const std::vector<Task>& more = bad.phases[p].tasks;
    tasks.insert(tasks.end(), more.begin(), more.end());
    bad.phases.erase(bad.phases.begin() + static_cast<std::ptrdiff_t>(p));
    EXPECT_TRUE(is_caught(bad)) << "phases " << p - 1 << " and " << p;
  }
}

TEST_P(ScheduleMutation, EachMissingStoreIsCaughtByFindHazards) {
  for (std::size_t p = 0; p < good_.phases.size(); ++p) {
    for (std::size_t t = 0; t < good_.phases[p].tasks.size(); ++t) {
      for (std::size_t s = 0; s < good_.phases[p].tasks[t].stores.size(); ++s) {
        // Such as an activation that only its own task uses, which no task loads.
        if (!is_used(good_.phases[p].tasks[t].stores[s])) {
          continue;
        }
        Schedule bad = good_;
        std::vector<Store>& stores = bad.phases[p].tasks[t].stores;
        stores.erase(stores.begin() + static_cast<std::ptrdiff_t>(s));
        EXPECT_TRUE(is_caught(bad)) << good_.phases[p].tasks[t].name << ", store " << s;
      }
    }
  }
}

TEST_P(ScheduleMutation, UpdateOfNothingIsCaughtByFindHazards) {
  Schedule bad = good_;
  ASSERT_TRUE(testing::change_tasks(bad, [&](Task& task) {
    return std::erase_if(task.stores, [&](const Store& store) {
             return testing::is_state(case_.program, good_, store.access);
           }) > 0;
  }));
  EXPECT_TRUE(is_caught(bad));
}

TEST_P(ScheduleMutation, MissingTaskIsCaughtByFindHazards) {
  for (std::size_t p = 0; p < good_.phases.size(); ++p) {
    for (std::size_t t = 0; t < good_.phases[p].tasks.size(); ++t) {
      Schedule bad = good_;
      std::vector<Task>& tasks = bad.phases[p].tasks;
      tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(t));
      EXPECT_TRUE(is_caught(bad)) << good_.phases[p].tasks[t].name;
    }
  }
}

TEST_P(ScheduleMutation, MissingLastTileIsCaughtByFindHazards) {
  for (std::size_t p = 0; p < good_.phases.size(); ++p) {
    for (std::size_t t = 0; t < good_.phases[p].tasks.size(); ++t) {
      Schedule bad = good_;
      --bad.phases[p].tasks[t].num_tiles;
      EXPECT_TRUE(is_caught(bad)) << good_.phases[p].tasks[t].name;
    }
  }
}

TEST_P(ScheduleMutation, ShortenedDomainIsCaughtByFindHazards) {
  for (std::size_t p = 0; p < good_.phases.size(); ++p) {
    for (std::size_t t = 0; t < good_.phases[p].tasks.size(); ++t) {
      Schedule bad = good_;
      Task& task = bad.phases[p].tasks[t];
      // A sum of too few terms is wrong arithmetic, and the validation's business.
      const int num_summed = task.reduce ? task.reduce->num_reduced_dims : 0;
      if (static_cast<int>(task.domain.size()) == num_summed) {
        continue;
      }
      --task.domain.front();
      EXPECT_TRUE(is_caught(bad)) << task.name;
    }
  }
}

/// Of the cases with several blocks.
class GridScheduleMutation : public ScheduleMutation {};

TEST_P(GridScheduleMutation, NarrowerBarrierIsCaughtByFindHazards) {
  ASSERT_NE(good_.partition, Partition::Block);
  for (std::size_t p = 1; p < good_.phases.size(); ++p) {
    if (!is_between_blocks(good_.phases[p].edge_before)) {
      continue;
    }
    Schedule bad = good_;
    bad.phases[p].edge_before = Edge::Block;
    EXPECT_TRUE(is_caught(bad)) << "before phase " << p;
    if (good_.partition == Partition::Grid) {
      bad.phases[p].edge_before = Edge::Cluster;
      EXPECT_TRUE(is_caught(bad)) << "before phase " << p;
    }
  }
}

/// Of the cases whose products read ahead of the grid's barrier, or of the end of the launch
/// before.
class EarlyReadMutation : public ScheduleMutation {};

TEST_P(EarlyReadMutation, EachReadTooEarlyIsCaughtByFindHazards) {
  int num_early = 0;
  int num_moved = 0;
  for (std::size_t p = 0; p < good_.phases.size(); ++p) {
    if (p > 0 && !is_between_blocks(good_.phases[p].edge_before)) {
      continue;
    }
    for (std::size_t t = 0; t < good_.phases[p].tasks.size(); ++t) {
      Schedule bad = good_;
      Task& task = bad.phases[p].tasks[t];
      std::vector<bool*> reads;
      for (ExprNode& node : task.nodes) {
        if (node.kind == ExprNode::Kind::Load) {
          reads.push_back(&node.is_early);
        }
      }
      if (task.gemm) {
        reads.push_back(&task.gemm->a.is_early);
        reads.push_back(&task.gemm->b.is_early);
      }
      for (std::size_t r = 0; r < reads.size(); ++r) {
        num_early += *reads[r] ? 1 : 0;
        if (!task.gemm || std::exchange(*reads[r], true)) {
          continue;
        }
        ++num_moved;
        EXPECT_TRUE(is_caught(bad)) << task.name << ", read " << r;
        *reads[r] = false;
      }
    }
  }
  EXPECT_GT(num_early, 0);
  EXPECT_GT(num_moved, 0);
}

/// Of the cases whose first phase reads before the launch before has ended.
class OpenLaunchMutation : public ScheduleMutation {};

TEST_P(OpenLaunchMutation, ReadBeforeTheLaunchBeforeHasCountedIsCaughtByFindHazards) {
  Schedule bad = good_;
  bad.counts_batches = true;
  EXPECT_TRUE(is_caught(bad));
}

/// Of the cases with a phase that every block computes for itself.
class RepeatedMutation : public ScheduleMutation {
 protected:
  Index repeated() const {
    const auto found = std::ranges::find(good_.phases, true, &Phase::is_repeated);
    return static_cast<Index>(found - good_.phases.begin());
  }
};

TEST_P(RepeatedMutation, SharedTilesAreCaughtByFindHazards) {
  Schedule bad = good_;
  bad.phases.at(repeated()).is_repeated = false;
  EXPECT_TRUE(is_caught(bad));
}

TEST_P(RepeatedMutation, AnotherPhaseRepeatedIsCaughtByFindHazards) {
  for (Index p = 0; p < good_.phases.size(); ++p) {
    Schedule bad = good_;
    if (!std::exchange(bad.phases[p].is_repeated, true)) {
      EXPECT_TRUE(is_caught(bad)) << "phase " << p;
    }
  }
}

TEST_P(RepeatedMutation, ACopyForAllBlocksIsCaughtByFindHazards) {
  Schedule bad = good_;
  for (const Task& task : bad.phases.at(repeated()).tasks) {
    for (const Store& store : task.stores) {
      bad.buffers[static_cast<Index>(store.access.buffer)].storage = Storage::Workspace;
    }
  }
  EXPECT_TRUE(is_caught(bad));
}

TEST_P(RepeatedMutation, UpdateOfWhatASlowBlockStillReadsIsCaughtByFindHazards) {
  const Index p = repeated();
  int num_moved = 0;
  for (Index t = 0; t < good_.phases.at(p + 2).tasks.size(); ++t) {
    const Task& task = good_.phases[p + 2].tasks[t];
    const bool disturbs = std::ranges::any_of(task.stores, [&](const Store& store) {
      bool is_read = false;
      for (const Task& reader : good_.phases[p].tasks) {
        for_each_read(reader, [&](const Access& access, ValueId, bool) {
          is_read = is_read || access.buffer == store.access.buffer;
        });
      }
      return is_read;
    });
    if (!disturbs) {
      continue;
    }
    ++num_moved;
    Schedule bad = good_;
    bad.phases[p + 1].tasks.push_back(task);
    bad.phases[p + 2].tasks.erase(bad.phases[p + 2].tasks.begin() + static_cast<std::ptrdiff_t>(t));
    EXPECT_TRUE(is_caught(bad)) << task.name;
  }
  EXPECT_GT(num_moved, 0);
}

/// Of the cases with several steps a launch.
class LongLaunchMutation : public ScheduleMutation {};

TEST_P(LongLaunchMutation, DroppedBarrierBetweenStepsIsCaughtByFindHazards) {
  ASSERT_GT(good_.steps_per_launch, 1);
  Schedule bad = good_;
  bad.step_edge = Edge::None;
  EXPECT_TRUE(is_caught(bad));
}

/// Of the cases with state in shared memory.
class ResidentMutation : public ScheduleMutation {};

TEST_P(ResidentMutation, ResidentStateOverScratchIsCaughtByFindHazards) {
  Schedule bad = good_;
  int num_moved = 0;
  for (Buffer& buffer : bad.buffers) {
    if (buffer.is_resident) {
      buffer.offset_bytes = 0;
      ++num_moved;
    }
  }
  ASSERT_GT(num_moved, 0);
  EXPECT_TRUE(is_caught(bad));
}

/// Of the cases with inputs that come ahead of their step.
class PrefetchMutation : public ScheduleMutation {};

TEST_P(PrefetchMutation, InputInTheBytesOfTheStepBeforeIsCaughtByFindHazards) {
  ASSERT_FALSE(good_.prefetched.empty());
  for (const PrefetchedInput& input : good_.prefetched) {
    Schedule bad = good_;
    bad.buffers[Index(input.buffer)].slot_bytes = 0;
    EXPECT_TRUE(is_caught(bad));
  }
}

TEST_P(PrefetchMutation, InputInTheBytesOfOthersIsCaughtByFindHazards) {
  for (const PrefetchedInput& input : good_.prefetched) {
    Schedule bad = good_;
    bad.buffers[Index(input.buffer)].offset_bytes = 0;
    EXPECT_TRUE(is_caught(bad));
  }
}

TEST_P(PrefetchMutation, InputThatIsNotStableBeforeItsLaunchIsCaughtByFindHazards) {
  Program program = case_.program;
  for (ProgramInput& input : program.inputs) {
    input.stable = false;
  }
  Schedule bad = good_;
  for (PrefetchedInput& input : bad.prefetched) {
    input.is_stable = true;
  }
  EXPECT_FALSE(find_hazards(program, bad).empty());
}

TEST_P(PrefetchMutation, InputBeforeTheLaunchBeforeHasCountedIsCaughtByFindHazards) {
  ASSERT_TRUE(std::ranges::any_of(good_.prefetched, &PrefetchedInput::is_stable));
  Schedule bad = good_;
  bad.counts_batches = true;
  EXPECT_TRUE(is_caught(bad));
}

class HeldMutation : public ScheduleMutation {};

TEST_P(HeldMutation, StateInRegistersThatOthersReadIsCaughtByFindHazards) {
  Schedule bad = good_;
  int num_held = 0;
  for (Buffer& buffer : bad.buffers) {
    num_held += buffer.is_resident ? 1 : 0;
    buffer.is_held |= buffer.is_resident;
  }
  ASSERT_GT(num_held, 0);
  EXPECT_TRUE(is_caught(bad));
}

/// Of the cases with several buffers in an arena.
class ArenaMutation : public ScheduleMutation {};

TEST_P(ArenaMutation, OneArenaPlaceForAllBuffersIsCaughtByFindHazards) {
  Schedule bad = good_;
  int num_moved = 0;
  for (Buffer& buffer : bad.buffers) {
    if (buffer.storage != Storage::Argument && buffer.offset_bytes != 0) {
      buffer.offset_bytes = 0;
      ++num_moved;
    }
  }
  ASSERT_GT(num_moved, 0);
  EXPECT_TRUE(is_caught(bad));
}

std::string case_name(const ::testing::TestParamInfo<int>& test) {
  return cases()[static_cast<std::size_t>(test.param)].name;
}

INSTANTIATE_TEST_SUITE_P(Cases, ScheduleMutation, ::testing::Range(0, 13), case_name);
INSTANTIATE_TEST_SUITE_P(
    Cases, GridScheduleMutation, ::testing::Values(0, 2, 3, 4, 6, 7, 10, 11), case_name
);
INSTANTIATE_TEST_SUITE_P(
    Cases, EarlyReadMutation, ::testing::Values(0, 2, 3, 4, 10, 11), case_name
);
INSTANTIATE_TEST_SUITE_P(Cases, OpenLaunchMutation, ::testing::Values(0, 10), case_name);
INSTANTIATE_TEST_SUITE_P(
    Cases, LongLaunchMutation, ::testing::Values(3, 7, 8, 9, 10, 11, 12), case_name
);
INSTANTIATE_TEST_SUITE_P(Cases, RepeatedMutation, ::testing::Values(11), case_name);
INSTANTIATE_TEST_SUITE_P(Cases, ResidentMutation, ::testing::Values(8, 9), case_name);
INSTANTIATE_TEST_SUITE_P(Cases, PrefetchMutation, ::testing::Values(12), case_name);
INSTANTIATE_TEST_SUITE_P(Cases, HeldMutation, ::testing::Values(9), case_name);
INSTANTIATE_TEST_SUITE_P(Cases, ArenaMutation, ::testing::Range(0, 7), case_name);

}  // namespace
}  // namespace whet
