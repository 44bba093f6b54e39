// CUDA kernels that are wrong, each caught by the emulation: by its check of accesses, which also
// finds races in the first run, or by the comparison of its results with an interpreter. The kernel
// that each was made of passes both.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/verify.hpp"
#include "support/programs.hpp"
#include "support/schedules.hpp"
#include "support/step_runner.hpp"
#include "support/text_edit.hpp"

namespace whet {
namespace {

using Index = std::size_t;
using Change = std::function<void(Schedule&)>;

/// How one text becomes another; empty: unedited.
struct TextEdit {
  std::string from;
  std::string to;
};

class KernelMutation : public ::testing::Test {
 protected:
  static constexpr const char* kDiffers = "differs from the interpreter";

  void use(Program program) {
    program_ = std::move(program);
    data_ = testing::draw_data(program_, 2);
    expected_ = testing::interpret(program_, data_, kSteps);
  }

  /// What the emulation says of a kernel; empty when it has nothing against it.
  std::string complaint(
      const std::string& configuration, const Change& change = nullptr, const TextEdit& edit = {}
  ) const {
    Schedule schedule = testing::resolved(program_, configuration, emulated_limits());
    if (change) {
      const Schedule before = schedule;
      change(schedule);
      if (schedule == before) {
        throw InternalError("the change changed nothing");
      }
    }
    KernelSource source = lower(program_, schedule, emulated_limits());
    if (!edit.from.empty()) {
      source.text = testing::edited(source.text, edit.from, edit.to);
    }
    CompileOptions options;
    options.cache_folder = testing::test_cache();
    options.emulation_checks = AccessChecks::All;
    const CompileOutcome compiled = compile(source, options);
    if (compiled.status != Status::Ok) {
      throw InternalError(compiled.detail);
    }
    return run(compiled.artifact, source.plan);
  }

  void expect_caught(
      const std::string& configuration,
      const Change& change,
      const std::string& part,
      const TextEdit& edit = {}
  ) const {
    SCOPED_TRACE(configuration + (edit.from.empty() ? "" : ", without: " + edit.from));
    EXPECT_EQ(complaint(configuration), "");
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, complaint(configuration, change, edit));
  }
  void expect_edit_caught(
      const std::string& configuration, const TextEdit& edit, const std::string& part
  ) const {
    expect_caught(configuration, nullptr, part, edit);
  }

  const Program& program() const { return program_; }

 private:
  std::string run(const std::filesystem::path& artifact, const LaunchPlan& plan) const {
    try {
      const auto executor = make_emulated_executor({});
      testing::StepRunner runner(*executor, program_, artifact, plan, data_);
      const double error =
          testing::largest_error(runner.run(kSteps), expected_, data_, plan.steps_per_launch);
      return error <= kLimit ? "" : fmt::format("{} by {}", kDiffers, error);
    } catch (const DeviceFault& fault) {
      return fault.what();
    }
  }

  static constexpr int kSteps = 4;
  /// Sums run in another order, which flips a rounding to BF16 here and there.
  static constexpr double kLimit = 1e-2;

  Program program_;
  testing::StepData data_;
  testing::StepResult expected_;
};

Program ragged(DType dtype) { return testing::mlp(9, 33, 21, 7, dtype); }
/// Rows of 16 bytes, which asynchronous copies can fetch.
Program aligned() { return testing::mlp(16, 64, 40, 16, DType::BF16); }

/// Tiles for every block, and without barriers of their own that would hide the loss of another.
Program spread() { return testing::mlp(20, 40, 72, 32, DType::BF16); }
const std::string kTiles =
    " blocks=4 operands=direct split_k=1 tile_m=16 tile_n=16 repeat_cheap=off";
const std::string kSpread = "partition=grid" + kTiles;
const std::string kCluster = "partition=cluster" + kTiles;
const std::string kOneBlock =
    "partition=block operands=direct split_k=1 tile_m=32 tile_n=32 threads=128";

Change without_edge(Index phase) {
  return [phase](Schedule& schedule) { schedule.phases.at(phase).edge_before = Edge::None; };
}

const std::string kStaged =
    "partition=block inputs=global operands=staged tile_k=16 split_k=1 threads=128";

TEST_F(KernelMutation, DroppedBarrierBetweenPhasesIsARace) {
  use(spread());
  for (const Index p : {1, 2, 3}) {
    expect_caught(kSpread, without_edge(p), "race: ");
    expect_caught(kCluster, without_edge(p), "race: ");
  }
  // The third of the block's follows sums, which end with a barrier of their own.
  for (const Index p : {1, 2}) {
    expect_caught(kOneBlock, without_edge(p), "race: ");
  }
}

TEST_F(KernelMutation, DroppedBarrierBetweenStepsIsARace) {
  use(spread());
  for (const std::string& configuration : {kSpread, kCluster}) {
    expect_caught(
        configuration + " steps_per_launch=4",
        [](Schedule& schedule) { schedule.step_edge = Edge::None; },
        "race: "
    );
  }
}

TEST_F(KernelMutation, BlockBarrierInPlaceOfAWiderOneIsARace) {
  use(spread());
  for (const std::string& configuration : {kSpread, kCluster}) {
    for (const Index p : {1, 2, 3}) {
      expect_caught(
          configuration,
          [p](Schedule& schedule) { schedule.phases[p].edge_before = Edge::Block; },
          "race: "
      );
    }
  }
}

TEST_F(KernelMutation, ReadBeforeTheGridHasMetIsARace) {
  use(spread());
  for (const Index p : {1, 2, 3}) {
    expect_caught(
        kSpread,
        [p](Schedule& schedule) {
          for (Task& task : schedule.phases[p].tasks) {
            if (task.gemm) {
              task.gemm->a.is_early = true;
              task.gemm->b.is_early = true;
            }
          }
        },
        "race: "
    );
  }
}

TEST_F(KernelMutation, WarpThatMeetsTheGridInTwoPlacesIsCaught) {
  use(testing::mlp(1, 64, 64, 1, DType::BF16));
  expect_edit_caught(
      "partition=grid blocks=8 engine=simt tile_m=32 tile_n=32 split_k=2",
      {"if (!edge.wait() || Accumulator::is_idle()) return;",
       "if (Accumulator::is_idle() || !edge.wait()) return;"},
      "at two places of the kernel"
  );
}

TEST_F(KernelMutation, SwappedPhasesDifferFromTheInterpreter) {
  use(ragged(DType::BF16));
  for (const Index p : {1, 2, 3}) {
    expect_caught(
        "partition=grid blocks=4 early_reads=off repeat_cheap=off",
        [p](Schedule& schedule) {
          std::swap(schedule.phases[p - 1].tasks, schedule.phases[p].tasks);
        },
        kDiffers
    );
  }
}

TEST_F(KernelMutation, EachPartOfARepeatedPhaseCounts) {
  use(testing::mlp(16, 64, 128, 16, DType::BF16));
  const std::string configuration = "partition=cluster blocks=4";
  expect_caught(configuration, without_edge(2), "race: ");
  expect_caught(
      configuration, [](Schedule& schedule) { schedule.phases.at(1).is_repeated = false; }, kDiffers
  );
  // The update of the bias, which slow blocks still read.
  expect_caught(
      configuration + " teams=off",
      [](Schedule& schedule) {
        std::vector<Task>& last = schedule.phases.at(3).tasks;
        const auto update = std::ranges::find(last, "sum3", &Task::name);
        schedule.phases[2].tasks.push_back(*update);
        last.erase(update);
      },
      "race: "
  );
}

TEST_F(KernelMutation, MissingWaitOnAnAsynchronousCopyIsARace) {
  use(aligned());
  const std::string under_way = "an asynchronous copy of";
  for (const std::string stages : {" stages=2", " stages=3"}) {
    expect_edit_caught(kStaged + stages, {"cp_async_wait<G::kStages - 2>();", ""}, under_way);
  }
  // One group too few.
  expect_edit_caught(
      kStaged + " stages=3",
      {"cp_async_wait<G::kStages - 2>();", "cp_async_wait<G::kStages - 1>();"},
      under_way
  );
  expect_edit_caught(kStaged + " stages=1", {"cp_async_wait<0>();", ""}, under_way);
}

TEST_F(KernelMutation, EachPartOfAPrefetchCounts) {
  use(aligned());
  const std::string four = kOneBlock + " inputs=shared steps_per_launch=4";
  const std::string under_way = "an asynchronous copy of";
  const std::string wait = "cp_async_wait<0>();\n";
  expect_edit_caught(four, {wait + "  block_barrier();", "block_barrier();"}, under_way);
  expect_edit_caught(four, {wait + "  block_barrier();", wait}, "race: ");
  expect_edit_caught(four, {wait + "    block_barrier();", "block_barrier();"}, under_way);
  expect_edit_caught(
      four, {"prefetch(args, step + 1, next,", "prefetch(args, step, next,"}, "race: "
  );
  expect_edit_caught(
      four, {"prefetch(args, step + 1, next,", "prefetch(args, step + 1, batch,"}, kDiffers
  );
}

TEST_F(KernelMutation, DroppedBarrierInsideATileIsARace) {
  use(aligned());
  expect_edit_caught(
      kStaged + " stages=3", {"G::Team::barrier();  // also: all have read", "//"}, "race: "
  );
  expect_edit_caught(
      kStaged + " stages=1",
      {"cp_async_wait<0>();\n      G::Team::barrier();", "cp_async_wait<0>();"},
      "race: "
  );
  expect_edit_caught(
      "partition=block operands=direct split_k=4 threads=128",
      {"Place::share(partial, acc);\n  G::Team::barrier();", "Place::share(partial, acc);"},
      "race: "
  );
}

TEST_F(KernelMutation, DroppedBarrierOfATeamIsARace) {
  use(testing::mlp(32, 64, 64, 32, DType::BF16));
  expect_edit_caught(
      "partition=block threads=512 split_k=4 tile_m=32 tile_n=32",
      {"team_barrier(kFirstWarp, kWarps);", ""},
      "race: "
  );
}

const std::string kLanes = "partition=block engine=simt threads=256 split_k=8 k_lanes=most";

TEST_F(KernelMutation, LanesThatLeaveOutAStageOfTheirSumDifferFromTheInterpreter) {
  use(testing::mlp(1, 64, 64, 1, DType::F32));
  const std::string halving = "for (int mask = kSharers / 2; mask > 0; mask /= 2)";
  const std::string adding = "for (int mask = kSharers; mask < G::kLanesK; mask *= 2)";
  expect_edit_caught(
      kLanes, {halving, "for (int mask = kSharers / 4; mask > 0; mask /= 2)"}, kDiffers
  );
  expect_edit_caught(
      kLanes, {adding, "for (int mask = 2 * kSharers; mask < G::kLanesK; mask *= 2)"}, kDiffers
  );
  expect_edit_caught(
      kLanes, {adding, "for (int mask = kSharers; mask < G::kLanesK / 2; mask *= 2)"}, kDiffers
  );
}

TEST_F(KernelMutation, LanesInEachOthersPlaceDifferFromTheInterpreter) {
  use(testing::mlp(1, 64, 64, 1, DType::F32));
  expect_edit_caught(
      kLanes,
      {"lane_of_k() % kSharers * kOwned", "(kSharers - 1 - lane_of_k() % kSharers) * kOwned"},
      kDiffers
  );
  expect_edit_caught(
      kLanes,
      {"shuffle_xor(is_upper ? lower : upper", "shuffle_xor(is_upper ? upper : lower"},
      kDiffers
  );
  expect_edit_caught(kLanes, {" + A::lane_of_k()) * 4", ") * 4"}, kDiffers);
}

TEST_F(KernelMutation, LanesThatAllKeepTheSumRace) {
  use(testing::mlp(1, 64, 64, 1, DType::F32));
  expect_edit_caught(
      kLanes, {"return !is_spare() && lane_of_k() < kSharers;", "return !is_spare();"}, "race: "
  );
}

TEST_F(KernelMutation, SpareLanesThatLeaveTheirWarpsSumAreCaught) {
  use(testing::mlp(1, 64, 64, 1, DType::F32));
  expect_edit_caught(
      kLanes,
      {"if (!edge.wait() || Accumulator::is_idle()) return;",
       "if (!edge.wait() || Accumulator::is_spare()) return;"},
      "shuffle_xor"
  );
}

TEST_F(KernelMutation, TeamsThatStageInTheSameBytesRace) {
  const Program program = testing::mlp(32, 64, 64, 32, DType::BF16);
  use(program);
  const auto overlap = [](Schedule& schedule) {
    for (Phase& phase : schedule.phases) {
      for (Task& task : phase.tasks) {
        task.scratch_offset_bytes = 0;
      }
    }
  };
  const std::string configuration = "partition=block threads=512 split_k=4 tile_m=32 tile_n=32";
  EXPECT_EQ(complaint(configuration), "");
  EXPECT_NE(complaint(configuration, overlap).find("race: "), std::string::npos);
  Schedule schedule = testing::resolved(program, configuration, emulated_limits());
  overlap(schedule);
  const std::vector<std::string> hazards = find_hazards(program, schedule);
  ASSERT_FALSE(hazards.empty());
  EXPECT_NE(hazards.front().find("stage in the same bytes side by side"), std::string::npos);
}

TEST_F(KernelMutation, TeamsThatShareAWarpAreCaughtByFindHazards) {
  const Program program = testing::mlp(32, 64, 64, 32, DType::BF16);
  Schedule schedule = testing::resolved(program, "partition=block threads=512", emulated_limits());
  ASSERT_TRUE(find_hazards(program, schedule).empty());
  ASSERT_GT(schedule.phases.back().tasks.size(), 1U);
  schedule.phases.back().tasks[1].first_warp -= 1;
  const std::vector<std::string> hazards = find_hazards(program, schedule);
  ASSERT_FALSE(hazards.empty());
  EXPECT_NE(hazards.front().find("share warps without being one team"), std::string::npos);
}

// A row too far lies in what follows in the arena, a column too far in the next row.
TEST_F(KernelMutation, SkippedTailMaskOfStoresIsCaught) {
  use(ragged(DType::BF16));
  const std::string grid = "partition=grid blocks=4";
  expect_edit_caught(grid, {"(kWholeM || m < G::kM)", "true"}, "race: ");
  expect_edit_caught(grid, {"(kWholeN || n < G::kN)", "true"}, "outside of it");
}

TEST_F(KernelMutation, SkippedTailMaskOfLoadsIsCaught) {
  use(ragged(DType::BF16));
  const std::string valid = "const bool valid = row < O::kRows && k < G::kK;";
  expect_edit_caught(kStaged, {valid, "const bool valid = k < G::kK;"}, "outside of");
  expect_edit_caught(kStaged, {valid, "const bool valid = row < O::kRows;"}, "outside of");
}

TEST_F(KernelMutation, WrongStepParityDiffersFromTheInterpreter) {
  use(ragged(DType::BF16));
  const std::string four = "partition=grid blocks=2 steps_per_launch=4";
  const std::string next = "batch = batch + 1 == args.ring_length ? 0 : batch + 1;";
  expect_edit_caught(four, {next, ""}, kDiffers);
  expect_edit_caught(
      "partition=grid blocks=2",
      {"u32 batch = args.first_batch", "u32 batch = args.first_batch ^ 1u"},
      kDiffers
  );
}

TEST_F(KernelMutation, CountThatStaysOrRacesIsCaught) {
  use(ragged(DType::BF16));
  const std::string counting = "partition=grid blocks=2 step_number=device";
  expect_edit_caught(
      counting,
      {"*counter = batch + 1 == args.ring_length ? 0 : batch + 1;", "*counter = first_batch;"},
      kDiffers
  );
  expect_edit_caught(
      counting, {"block_index();\n  const u32 first", "0;\n  const u32 first"}, "race: "
  );
  expect_edit_caught(
      "partition=block step_number=device",
      {"const u32 first_batch = *counter;",
       "const u32 first_batch = *counter; if (thread_index() == 0) *counter = first_batch + 1;"},
      "race: "
  );
}

TEST_F(KernelMutation, ResidentStateThatIsNotBroughtBackDiffersFromTheInterpreter) {
  use(ragged(DType::BF16));
  const std::string resident = "partition=block weights=resident steps_per_launch=4";
  expect_edit_caught(
      resident, {"copy_bytes<kThreads, 2772>(args.tensors[3],", "(void)("}, kDiffers
  );
}

TEST_F(KernelMutation, StateInRegistersThatDoesNotComeOrGoDiffersFromTheInterpreter) {
  use(ragged(DType::BF16));
  const std::string registers = "partition=block weights=registers steps_per_launch=4";
  for (const char* const call : {"load_state", "copy_state", "save_state"}) {
    SCOPED_TRACE(call);
    const std::string text = fmt::format("G::template {}<Place::kWidth>(b, m, n, held);", call);
    expect_edit_caught(registers, {text, ""}, kDiffers);
  }
}

TEST_F(KernelMutation, MatrixTurnedFromOtherRowsDiffersFromTheInterpreter) {
  use(testing::mlp(16, 64, 128, 16, DType::BF16));
  const std::string registers = "partition=block weights=registers";
  expect_edit_caught(
      registers,
      {"const int half = lane_index() / 8 % 2;", "const int half = lane_index() / 16;"},
      kDiffers
  );
}

TEST_F(KernelMutation, UpdateByAnotherShareDiffersFromTheInterpreter) {
  use(ragged(DType::F32));
  for (const double share : {0.0, 0.5}) {
    expect_caught(
        "partition=grid blocks=4",
        [this, share](Schedule& schedule) {
          testing::change_tasks(schedule, [&](Task& task) {
            for (const Store& store : task.stores) {
              if (testing::is_state(program(), schedule, store.access)) {
                task.nodes[Index(store.node)].attributes.alpha = share;
              }
            }
            return true;
          });
        },
        kDiffers
    );
  }
}

TEST_F(KernelMutation, UnwrittenOutputDiffersFromTheInterpreter) {
  use(ragged(DType::F32));
  expect_caught(
      "partition=grid blocks=4",
      [this](Schedule& schedule) {
        testing::change_tasks(schedule, [&](Task& task) {
          return std::erase_if(task.stores, [&](const Store& store) {
                   return testing::is_output(program(), schedule, store.access);
                 }) > 0;
        });
      },
      kDiffers
  );
}

}  // namespace
}  // namespace whet
