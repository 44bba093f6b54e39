// Products of generated CPU kernels against an interpreter in double: every layout of either
// operand, sizes that end inside a vector, a register tile and a block of K, every vector width.
#include <gtest/gtest.h>

#include "support/programs.hpp"
#include "support/schedules.hpp"
#include "support/step_runner.hpp"

namespace whet {
namespace {

using testing::ProgramBuilder;

/// An input of rows x columns, as it lies in memory.
enum class Layout {
  Rows,        ///< rows are contiguous
  Transposed,  ///< columns are contiguous
  Scattered,   ///< neither, and the first element is off every vector's alignment
};

ValueId matrix(
    ProgramBuilder& b, Layout layout, std::int64_t rows, std::int64_t columns, DType dtype
) {
  switch (layout) {
    case Layout::Rows:
      return b.input("", {rows, columns}, dtype);
    case Layout::Transposed: {
      const ValueId stored = b.input("", {columns, rows}, dtype);
      return b.op(OpKind::Transpose, {stored}, {.dims = {0, 1}});
    }
    default: {
      const ValueId stored = b.input("", {2 * rows + 1, 2 * columns + 1}, dtype);
      const ValueId sliced =
          b.op(OpKind::Slice, {stored}, {.dims = {0}, .start = 1, .end = 2 * rows, .step = 2});
      return b.op(
          OpKind::Slice, {sliced}, {.dims = {1}, .start = 1, .end = 2 * columns, .step = 2}
      );
    }
  }
}

/// The products of all layouts of both operands, which are stored in one type and computed in
/// another.
Program products(DType stored, DType computed) {
  struct Size {
    std::int64_t m, k, n;
  };
  ProgramBuilder b;
  for (const Size& size : {Size{37, 150, 70}, Size{9, 3, 130}}) {
    std::vector<ValueId> left;
    std::vector<ValueId> right;
    for (const Layout layout : {Layout::Rows, Layout::Transposed, Layout::Scattered}) {
      left.push_back(b.cast(matrix(b, layout, size.m, size.k, stored), computed));
      right.push_back(b.cast(matrix(b, layout, size.k, size.n, stored), computed));
    }
    for (const ValueId x : left) {
      for (const ValueId w : right) {
        b.program.outputs.push_back(b.op(OpKind::Mm, {x, w}));
      }
    }
  }
  return b.program;
}

struct Types {
  DType stored;
  DType computed;
};

class CpuProduct : public ::testing::TestWithParam<Types> {};

TEST_P(CpuProduct, AgreesWithTheInterpreterInEveryLayout) {
  const auto [stored, computed] = GetParam();
  const Program program = products(stored, computed);
  verify(program);
  const testing::StepData data = testing::draw_data(program, 1);
  const testing::StepResult expected = testing::interpret(program, data, 1);
  DeviceLimits limits = host_limits(1);
  const auto executor = make_cpu_executor(1);
  // The compiler makes do where the machine's vectors are narrower.
  for (const int vector_bytes : {16, 32, 64}) {
    limits.vector_bytes = vector_bytes;
    for (const std::string configuration : {"unroll=6", "tile_m=8 tile_n=32 unroll=8"}) {
      SCOPED_TRACE(std::to_string(vector_bytes) + " bytes, " + configuration);
      const auto built = testing::build_step(program, configuration, limits);
      ASSERT_TRUE(built.has_value());
      testing::StepRunner runner(*executor, program, built->artifact, built->source.plan, data);
      const double limit = computed == DType::F32 ? 1e-5 : 1e-2;
      EXPECT_LE(testing::largest_error(runner.run(1), expected, data, 1), limit);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types,
    CpuProduct,
    ::testing::Values(
        Types{DType::F32, DType::F32},
        Types{DType::BF16, DType::BF16},
        Types{DType::F16, DType::F16},
        Types{DType::F32, DType::BF16}
    ),
    [](const ::testing::TestParamInfo<Types>& info) {
      return std::string(dtype_name(info.param.stored)) + "_as_" +
             std::string(dtype_name(info.param.computed));
    }
);

TEST(CpuProductTiles, AreHalvedUntilThreadsHaveEvenWork) {
  DeviceLimits limits = host_limits(1);
  limits.num_sms = 4;
  ProgramBuilder b;
  const ValueId x = b.input("x", {100, 8}, DType::F32);
  b.program.outputs = {b.op(OpKind::Mm, {x, b.input("w", {8, 128}, DType::F32)})};
  const Schedule schedule =
      testing::resolved(b.program, "partition=grid tile_m=128 tile_n=128", limits);
  const Task& task = schedule.phases.front().tasks.front();
  EXPECT_EQ(task.gemm->tiling.tile_m, 64);
  EXPECT_EQ(task.gemm->tiling.tile_n, 64);
  EXPECT_EQ(task.num_tiles, 4);
}

}  // namespace
}  // namespace whet
