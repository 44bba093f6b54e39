// What ops mean, at the values where implementations differ. The interpreter is what other tests
// compare with, so these are its tests.
#include "support/interpreter.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "ir/program.hpp"
#include "support/program_input.hpp"

namespace whet {
namespace {

using testing::input;
using Dims = std::vector<std::int64_t>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

testing::Values evaluate(
    OpKind kind,
    std::vector<std::pair<Dims, testing::Values>> operands,
    OpAttributes attributes = {},
    DType dtype = DType::F32
) {
  Program program;
  std::vector<ValueId> inputs;
  for (const auto& [shape, values] : operands) {
    inputs.push_back(input(program, shape, dtype));
  }
  const ValueId result = append_op(program, kind, inputs, std::move(attributes), "r");
  testing::Interpreter interpreter(program);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    interpreter.set(inputs[i], operands[i].second);
  }
  interpreter.run();
  return interpreter.get(result);
}

TEST(Meaning, AddmmIgnoresWhatAFactorOfZeroMultiplies) {
  const std::pair<Dims, testing::Values> eye{{2, 2}, {1, 0, 0, 1}};
  EXPECT_EQ(
      evaluate(OpKind::Addmm, {{{2}, {kNaN, kNaN}}, eye, eye}, {.beta = 0.0}),
      (testing::Values{1, 0, 0, 1})
  );
  EXPECT_EQ(
      evaluate(OpKind::Addmm, {{{2}, {1, 1}}, {{2, 2}, {kNaN, 0, 0, 0}}, eye}, {.alpha = 0.0}),
      (testing::Values{1, 1, 1, 1})
  );
}

TEST(Meaning, ProductsOverNothingAreZeroAndKeepTheBias) {
  const std::pair<Dims, testing::Values> a{{2, 0}, {}};
  const std::pair<Dims, testing::Values> b{{0, 1}, {}};
  EXPECT_EQ(evaluate(OpKind::Mm, {a, b}), (testing::Values{0, 0}));
  EXPECT_EQ(evaluate(OpKind::Addmm, {{{1}, {1}}, a, b}, {.beta = 2.0}), (testing::Values{2, 2}));
}

TEST(Meaning, MeansOverNothingAreNaN) {
  EXPECT_TRUE(std::isnan(evaluate(OpKind::Mean, {{{0}, {}}}).at(0)));
  EXPECT_TRUE(std::isnan(evaluate(OpKind::Mean, {{{0, 1}, {}}}, {.dims = {0}}).at(0)));
  EXPECT_TRUE(std::isnan(evaluate(OpKind::MseLoss, {{{0}, {}}, {{0}, {}}}).at(0)));
  EXPECT_EQ(evaluate(OpKind::Sum, {{{0}, {}}}), testing::Values{0});
}

TEST(Meaning, MeanOfAScalarOverDimensionZeroIsTheScalar) {
  EXPECT_EQ(evaluate(OpKind::Mean, {{{}, {3}}}, {.dims = {0}}), testing::Values{3});
}

TEST(Meaning, SumOverNoDimensionsIsTheWholeSum) {
  EXPECT_EQ(
      evaluate(OpKind::Sum, {{{2, 3}, {1, 1, 1, 1, 1, 1}}}, {.dims = {}}), testing::Values{6}
  );
}

TEST(Meaning, HalfPrecisionMeansDoNotOverflowInTheSum) {
  EXPECT_EQ(
      evaluate(OpKind::Mean, {{{4096}, testing::Values(4096, 32.0)}}, {}, DType::F16),
      testing::Values{32}
  );
  EXPECT_EQ(
      evaluate(OpKind::Sum, {{{1600}, testing::Values(1600, 1.0)}}, {}, DType::BF16),
      testing::Values{1600}
  );
}

TEST(Meaning, ReluAndItsGradientKeepNaN) {
  const testing::Values result = evaluate(OpKind::Relu, {{{3}, {kNaN, -1, 2}}});
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_EQ(result[1], 0);
  EXPECT_EQ(result[2], 2);
  EXPECT_EQ(
      evaluate(OpKind::ThresholdBackward, {{{5}, {1, 1, 1, 1, 1}}, {{5}, {0, -0.0, kNaN, -1, 1}}}),
      (testing::Values{0, 0, 1, 0, 1})
  );
}

TEST(Meaning, EveryOpRoundsItsResult) {
  Program program;
  const ValueId a = input(program, {1}, DType::BF16);
  const ValueId up = append_op(program, OpKind::Add, {a}, {.other = 1.0}, "up");
  const ValueId back = append_op(program, OpKind::Sub, {up}, {.other = 256.0}, "back");
  testing::Interpreter eager(program);
  eager.set(a, {256});
  eager.run();
  EXPECT_EQ(eager.get(back), testing::Values{0});
  testing::Interpreter exact(program, testing::Rounding::None);
  exact.set(a, {256});
  exact.run();
  EXPECT_EQ(exact.get(back), testing::Values{1});
}

}  // namespace
}  // namespace whet
