#include "schedule/k_lanes.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "schedule/task_path.hpp"
#include "schedule/tiling.hpp"
#include "support/programs.hpp"
#include "support/schedules.hpp"

namespace whet {
namespace {

const std::string kOneBlock = "partition=block engine=simt teams=off ";

Schedule schedule_of(const Program& program, const std::string& configuration) {
  const auto devices = std::filesystem::path(WHET_SOURCE_DIR) / "configs/devices";
  return testing::resolved(program, configuration, load_device_limits("h200", devices));
}

Task product(const Schedule& schedule, const std::string& name) {
  for (const Phase& phase : schedule.phases) {
    for (const Task& task : phase.tasks) {
      if (task.name == name) {
        return task;
      }
    }
  }
  throw InternalError("no task " + name);
}

GemmTiling tiling_of(
    const Program& program, const std::string& name, const std::string& configuration
) {
  return product(schedule_of(program, kOneBlock + configuration), name).gemm->tiling;
}

/// The first layer's weights lie along their rows, the second's, of one row, along K.
Program one_row(DType dtype = DType::BF16) { return testing::mlp(1, 64, 64, 1, dtype); }

TEST(KLanes, TakeTheWholeOfOneSumInPlaceOfGroups) {
  const GemmTiling tiling = tiling_of(one_row(), "mm2", "");

  EXPECT_EQ(tiling.k_lanes, 16);
  EXPECT_EQ(tiling.split_k, 1);
}

TEST(KLanes, LeaveNeighbouringLanesToAnOperandThatLiesAlongItsRows) {
  const GemmTiling tiling = tiling_of(one_row(), "mm1", "threads=256");

  EXPECT_EQ(tiling.k_lanes, 1);
  EXPECT_EQ(tiling.split_k, 4);
}

/// d(h) = d(y) W2^T: both operands lie along K.
TEST(KLanes, TakePartsOfKWhereBothOperandsLieAlongIt) {
  const Program program = testing::mlp(4, 64, 16, 64, DType::F32);
  const Task task = product(schedule_of(program, kOneBlock), "mm3");
  ASSERT_EQ(task.gemm->a.access.strides[1], 1);
  ASSERT_EQ(task.gemm->b.access.strides[1], 1);
  ASSERT_LT(task.gemm->tiling.tile_m * task.gemm->tiling.tile_n, num_threads(task));

  EXPECT_GT(task.gemm->tiling.k_lanes, 1);
}

TEST(KLanes, AreAsManyAsThereIsKForIfAsked) {
  EXPECT_EQ(tiling_of(one_row(), "mm1", "threads=256 k_lanes=most").k_lanes, 4);
  EXPECT_EQ(tiling_of(one_row(), "mm1", "k_lanes=most split_k=8").k_lanes, 8);
  EXPECT_EQ(tiling_of(one_row(), "mm1", "k_lanes=most threads=512").k_lanes, 8);
  EXPECT_EQ(tiling_of(one_row(), "mm3", "k_lanes=most").k_lanes, 1);  // K = 1
  // 32 parts: 16 lanes are the most.
  const GemmTiling tiling =
      tiling_of(testing::mlp(1, 60, 132, 1, DType::F32), "mm2", "k_lanes=most");
  EXPECT_EQ(tiling.k_lanes, 16);
  EXPECT_EQ(tiling.split_k, 2);
}

TEST(KLanes, AreOffWhereSoAskedStagedOrOnTensorCores) {
  EXPECT_EQ(tiling_of(one_row(), "mm2", "k_lanes=off").k_lanes, 1);
  EXPECT_EQ(tiling_of(one_row(), "mm2", "k_lanes=off").split_k, 16);
  EXPECT_EQ(tiling_of(one_row(), "mm2", "mm2/operands=staged").k_lanes, 1);
  EXPECT_EQ(tiling_of(one_row(), "mm2", "mm2/engine=mma mm2/k_lanes=most").k_lanes, 1);
}

TEST(KLanes, LeaveATileWithAsManyElementsAsThreadsUnlessAsked) {
  const Program program = testing::mlp(64, 64, 64, 64, DType::F32);

  EXPECT_EQ(tiling_of(program, "mm3", "split_k=8").k_lanes, 1);
  EXPECT_GT(tiling_of(program, "mm3", "split_k=8 k_lanes=most").k_lanes, 1);
}

TEST(KLanes, TouchFewerLinesOfWhatLiesAlongKAndMoreOfWhatLiesAlongRows) {
  const auto cycles = [](const Program& program, const std::string& name, int lanes) {
    const Schedule schedule = schedule_of(program, kOneBlock + "k_lanes=off threads=512");
    Task task = product(schedule, name);
    const int parts = task.gemm->tiling.split_k;
    task.gemm->tiling.k_lanes = lanes;
    task.gemm->tiling.split_k = parts / lanes;
    return access_cycles(schedule, task, num_threads(task));
  };
  const Program rows = one_row();
  const Program along_k = testing::mlp(4, 64, 16, 64, DType::F32);

  EXPECT_LT(cycles(rows, "mm1", 1), cycles(rows, "mm1", 4));
  EXPECT_LT(cycles(along_k, "mm3", 4), cycles(along_k, "mm3", 1));
}

TEST(KLanes, AreNamedInTheTasksPath) {
  for (const TaskPath& path : task_paths(schedule_of(one_row(), kOneBlock))) {
    EXPECT_EQ(path.path.find("16 lanes share K") != std::string::npos, path.task == "mm2")
        << path.task;
  }
}

}  // namespace
}  // namespace whet
