#include "schedule/task_path.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "schedule/operand_path.hpp"
#include "support/other_programs.hpp"
#include "support/schedules.hpp"

namespace whet {
namespace {

DeviceLimits h200() {
  return load_device_limits("h200", std::filesystem::path(WHET_SOURCE_DIR) / "configs/devices");
}

std::vector<TaskPath> paths_of(
    const Program& program, const std::string& configuration, const DeviceLimits& limits
) {
  return task_paths(testing::resolved(program, configuration, limits));
}

/// That of the first task, which is the first layer's product in all that is asked here.
TaskPath first_path(const Program& program, const std::string& configuration) {
  return paths_of(program, configuration, h200()).at(0);
}

using Slower = std::vector<std::string>;

TEST(TaskPath, HasNothingFasterForRoundShapes) {
  const TaskPath path =
      first_path(testing::mlp(16, 64, 128, 16, DType::BF16), "partition=grid shadows=on");

  EXPECT_EQ(path.task, "mm1");
  EXPECT_EQ(path.ops, "mm, cast, add, relu");
  EXPECT_EQ(path.engine, "mma");
  EXPECT_EQ(path.path, "operands direct: A by 8 along k, B by 8 rows; results by up to 4");
  EXPECT_EQ(path.slower, Slower{});
}

TEST(TaskPath, SaysWhyElementsAreFetchedOneByOne) {
  const TaskPath path =
      first_path(testing::mlp(16, 10, 24, 7, DType::BF16), "partition=grid engine=mma");

  EXPECT_EQ(path.path, "operands direct: A one by one, B by 8 rows; results by up to 4");
  EXPECT_EQ(path.slower, Slower{"A: K = 10 is no multiple of 4: elements are fetched one by one"});
}

TEST(TaskPath, SaysWhyAccessesAreNarrower) {
  const TaskPath path =
      first_path(testing::mlp(16, 12, 18, 8, DType::BF16), "partition=grid engine=mma");

  EXPECT_EQ(path.path, "operands direct: A by 4 along k, B by 2 rows; results by up to 2");
  EXPECT_EQ(
      path.slower,
      (Slower{
          "A: K = 12 is no multiple of 8: elements are fetched by 4 along k",
          "B: N = 18 is no multiple of 4: elements are fetched by 2 rows",
          "results: N = 18 is no multiple of 4: they are moved by up to 2"})
  );
}

TEST(TaskPath, SaysWhyCopiesAreNotAsynchronous) {
  const Program program = testing::mlp(16, 64, 128, 16, DType::BF16);

  const TaskPath with = first_path(program, "partition=grid operands=staged shadows=on");
  const TaskPath without = first_path(program, "partition=grid operands=staged shadows=off");

  EXPECT_EQ(
      with.path,
      "operands staged: A by copies of 16 bytes, B by copies of 16 bytes; results by up to 4"
  );
  EXPECT_EQ(
      without.slower,
      Slower{"B: it is stored as f32 and multiplied as bf16: elements are fetched one by one"}
  );
}

TEST(TaskPath, SaysWhyAProductIsNotOnTensorCores) {
  const TaskPath f32 = first_path(testing::mlp(16, 64, 128, 16, DType::F32), "partition=grid");
  const TaskPath chosen =
      first_path(testing::mlp(16, 64, 128, 16, DType::F16), "partition=grid engine=simt");

  EXPECT_EQ(f32.engine, "simt");
  EXPECT_EQ(
      f32.slower, Slower{"not mma: tensor cores multiply no f32 without TF32, which rounds it"}
  );
  EXPECT_EQ(chosen.slower, Slower{"not mma: engine = simt"});
}

TEST(TaskPath, IsPackedPanelsForProductsOfTheCpuTarget) {
  for (const TaskPath& path :
       paths_of(testing::mlp(9, 33, 21, 7, DType::F16), "partition=block", host_limits(0))) {
    if (path.ops.starts_with("mm,")) {
      EXPECT_EQ(path.engine, "vectors");
      EXPECT_EQ(path.path, "packed panels") << path.task;
      EXPECT_EQ(path.slower, Slower{}) << path.task;
    }
  }
}

/// An operand that is fetched in a narrower way than its engine has names what stands against it,
/// and one on the widest way names nothing.
TEST(TaskPath, GivesAReasonForEverySlowerOperandOfOtherPrograms) {
  const DeviceLimits limits = h200();
  for (const DType dtype : {DType::BF16, DType::F16}) {
    for (const auto& [name, program] : testing::other_programs(dtype)) {
      for (const std::string& configuration :
           {"partition=grid engine=mma operands=direct",
            "partition=grid engine=mma operands=staged"}) {
        SCOPED_TRACE(name + ": " + configuration);
        const Schedule schedule = testing::resolved(program, configuration, limits);
        for (const Phase& phase : schedule.phases) {
          for (const Task& task : phase.tasks) {
            for (const Side side : {Side::A, Side::B}) {
              if (!task.gemm) {
                continue;
              }
              const OperandPath path = operand_path(schedule, task, side);
              const bool is_f32 = operand_of(*task.gemm, side).stored == DType::F32;
              const bool is_widest =
                  path.is_async || path.along_k == (is_f32 ? 4 : 8) || path.rows == 8;
              EXPECT_EQ(path.obstacle.empty(), is_widest) << task.name << ": " << path.obstacle;
            }
          }
        }
      }
    }
  }
}

TEST(TaskPath, NamesEveryOpOfTheStepThatComputes) {
  for (const auto& [name, program] : testing::other_programs(DType::BF16)) {
    SCOPED_TRACE(name);
    std::string all;
    for (const TaskPath& path : paths_of(program, "partition=grid", h200())) {
      EXPECT_FALSE(path.path.empty()) << path.task;
      all += path.ops + ", ";
    }
    for (const Op& op : program.ops) {
      const bool is_view = op.kind == OpKind::Transpose || op.kind == OpKind::Permute ||
                           op.kind == OpKind::Reshape || op.kind == OpKind::Expand;
      const bool is_constant = op.kind == OpKind::Full;
      if (!is_view && !is_constant) {
        EXPECT_NE(all.find(std::string(op_name(op.kind)) + ","), std::string::npos)
            << op_name(op.kind) << " in " << all;
      }
    }
  }
}

}  // namespace
}  // namespace whet
