// Numbers at the edges of their formats: what generated kernels make of them, on the CPU target and
// on emulated CUDA. Expected values are LibTorch's (tests/unit/reference_cases_test.cpp asks it).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/large_reductions.hpp"

namespace whet {
namespace {

using testing::ProgramBuilder;
using testing::Values;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One step of a program without state on both targets must give `expected`, bit for bit.
void expect_outputs(
    ProgramBuilder builder,
    const std::vector<ValueId>& outputs,
    const std::vector<Values>& inputs,
    const std::vector<Values>& expected
) {
  builder.program.outputs = outputs;
  verify(builder.program);
  const testing::StepData data{.inputs = {inputs}, .scalars = {}, .state = {}};
  const auto run = [&](const char* target,
                       const std::string& configuration,
                       const DeviceLimits& limits,
                       Executor& executor) {
    const testing::StepResult result =
        testing::run_step(builder.program, data, configuration, limits, executor);
    ASSERT_EQ(result.outputs.size(), 1U) << target;
    for (std::size_t o = 0; o < expected.size(); ++o) {
      for (std::size_t i = 0; i < expected[o].size(); ++i) {
        const double got = result.outputs[0][o].at(i);
        const bool equal = std::isnan(expected[o][i]) ? std::isnan(got) : got == expected[o][i];
        EXPECT_TRUE(equal) << target << " " << configuration << ": output " << o << "[" << i
                           << "] is " << got << ", expected " << expected[o][i];
      }
    }
  };
  const auto cpu = make_cpu_executor(2);
  run("cpu", "partition=block", host_limits(2), *cpu);
  run("cpu", "partition=grid", host_limits(2), *cpu);
  const auto emulated = make_emulated_executor({});
  run("emulated", "partition=block", emulated_limits(), *emulated);
  run("emulated", "partition=grid blocks=4 operands=staged", emulated_limits(), *emulated);
}

TEST(NumericCases, SumsAndMeansOfF16DoNotOverflowOnTheWay) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {4096}, DType::F16);
  const ValueId y = b.input("y", {8}, DType::F16);
  expect_outputs(
      b,
      {b.op(OpKind::Mean, {x}), b.op(OpKind::Sum, {x}), b.op(OpKind::Sum, {y})},
      {Values(4096, 32.0), {32000, 32000, 32000, 32000, -32000, -32000, -32000, -32000}},
      {{32.0}, {kInfinity}, {0.0}}
  );
}

TEST(NumericCases, SumsAndProductsOfBf16DoNotStickAt256) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {1600, 1}, DType::BF16);
  const ValueId row = b.input("row", {1, 4096}, DType::BF16);
  const ValueId column = b.input("column", {4096, 1}, DType::BF16);
  expect_outputs(
      b,
      {b.op(OpKind::Sum, {x}, {.dims = {0}}), b.op(OpKind::Mm, {row, column})},
      {Values(1600, 1.0), Values(4096, 1.0), Values(4096, 1.0)},
      {{1600.0}, {4096.0}}
  );
}

TEST(NumericCases, FusedChainsRoundAfterEveryOp) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {1}, DType::BF16);
  const ValueId y = b.input("y", {1}, DType::F32);
  const ValueId up = b.op(OpKind::Add, {x}, {.other = 1.0});
  const ValueId down = b.op(OpKind::Sub, {up}, {.other = 256.0});
  const ValueId there = b.op(OpKind::Cast, {y}, {.dtype = DType::BF16});
  const ValueId back = b.op(OpKind::Cast, {there}, {.dtype = DType::F32});
  expect_outputs(b, {down, back}, {{256.0}, {1.01953125}}, {{0.0}, {1.015625}});
}

TEST(NumericCases, ReluKeepsNaNInVectorsAndTails) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {19}, DType::F32);
  Values values(19, -1.0);
  Values expected(19, 0.0);
  for (const std::size_t i : {0U, 5U, 18U}) {
    values[i] = kNaN;
    expected[i] = kNaN;
  }
  values[7] = 2.0;
  expected[7] = 2.0;
  expect_outputs(b, {b.op(OpKind::Relu, {x})}, {values}, {expected});
}

TEST(NumericCases, PowKeepsSignAndZeroRules) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {4}, DType::F32);
  const auto power = [&](double exponent) { return b.op(OpKind::Pow, {x}, {.other = exponent}); };
  const std::vector<ValueId> outputs{power(3.0), power(2.0), power(0.0), power(-1.0)};
  expect_outputs(
      b,
      outputs,
      {{-2.0, 4.0, 0.0, kNaN}},
      {{-8.0, 64.0, 0.0, kNaN},
       {4.0, 16.0, 0.0, kNaN},
       {1.0, 1.0, 1.0, 1.0},
       {-0.5, 0.25, kInfinity, kNaN}}
  );
}

TEST(NumericCases, SubnormalsAreNotFlushed) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {2}, DType::F32);
  const auto f32 = [](float value) { return static_cast<double>(value); };
  expect_outputs(
      b,
      {b.op(OpKind::Add, {x, x})},
      {{f32(1e-40F), f32(3e-39F)}},
      {{f32(1e-40F + 1e-40F), f32(3e-39F + 3e-39F)}}
  );
}

TEST(NumericCases, ConversionsRoundAsLibTorch) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {3}, DType::F32);
  expect_outputs(
      b,
      {b.op(OpKind::Cast, {x}, {.dtype = DType::BF16}),
       b.op(OpKind::Cast, {x}, {.dtype = DType::F16})},
      {{65519.0, 65520.0, 0.26914089918136597}},
      {{65536.0, 65536.0, 0.26953125}, {65504.0, kInfinity, 0.26904296875}}
  );
}

TEST(NumericCases, ProductsOfF32AreNotTf32) {
  ProgramBuilder b;
  const ValueId a = b.input("a", {1, 1024}, DType::F32);
  const ValueId c = b.input("c", {1024, 1}, DType::F32);
  expect_outputs(
      b, {b.op(OpKind::Mm, {a, c})}, {Values(1024, 1.0 + 0x1p-12), Values(1024, 1.0)}, {{1024.25}}
  );
}

TEST(NumericCases, AMeanOverNothingIsNaNAndASumZero) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {0, 3}, DType::F32);
  const ValueId left = b.input("left", {2, 0}, DType::F32);
  const ValueId right = b.input("right", {0, 2}, DType::F32);
  expect_outputs(
      b,
      {b.op(OpKind::Mean, {x}), b.op(OpKind::Sum, {x}), b.op(OpKind::Mm, {left, right})},
      {{}, {}, {}},
      {{kNaN}, {0.0}, {0.0, 0.0, 0.0, 0.0}}
  );
}

}  // namespace
}  // namespace whet
