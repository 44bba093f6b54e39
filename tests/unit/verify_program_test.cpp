// Each invariant of a Program, broken once.
#include <gtest/gtest.h>

#include <limits>

#include "base/error.hpp"
#include "ir/program.hpp"
#include "support/program_input.hpp"

namespace whet {
namespace {

using testing::input;
using Dims = std::vector<std::int64_t>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string violation(const Program& program) {
  try {
    verify(program);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

/// relu of an input as the only output.
Program small_program() {
  Program program;
  const ValueId a = input(program, {2, 3});
  program.outputs.push_back(append_op(program, OpKind::Relu, {a}, {}, "r"));
  return program;
}

TEST(Verify, AcceptsWhatAppendOpBuilds) { EXPECT_EQ(violation(small_program()), ""); }

TEST(Verify, AcceptsNaNAsAConstant) {
  Program program = small_program();
  append_op(program, OpKind::Add, {0}, {.other = kNaN}, "nan");
  EXPECT_EQ(violation(program), "");
}

TEST(Verify, FindsAReadBeforeTheDefinition) {
  Program program = small_program();
  append_op(program, OpKind::Neg, {1}, {}, "n");
  std::swap(program.ops[0], program.ops[1]);
  EXPECT_NE(violation(program).find(R"(neg reads "r" before it is defined)"), std::string::npos);
}

TEST(Verify, FindsAValueWrittenTwice) {
  Program program = small_program();
  program.ops.push_back(program.ops[0]);
  EXPECT_NE(violation(program).find(R"(relu defines "r" again)"), std::string::npos);
}

TEST(Verify, FindsAShapeThatInferenceDoesNotGive) {
  Program program = small_program();
  program.values[1].shape = {3, 2};
  EXPECT_NE(
      violation(program).find("stored as [3, 2] f32, inferred as [2, 3] f32"), std::string::npos
  );
}

TEST(Verify, FindsAttributesThatAreNotCanonical) {
  Program program = small_program();
  program.ops[0].attributes.alpha = 2.0;
  EXPECT_NE(violation(program).find("its attributes are not canonical"), std::string::npos);
}

TEST(Verify, FindsAnOpThatInferenceRefuses) {
  Program program = small_program();
  program.ops[0].kind = OpKind::Mm;
  EXPECT_NE(violation(program).find("mm: expected 2 inputs, found 1"), std::string::npos);
}

TEST(Verify, FindsAStateWhoseNewValueDiffers) {
  Program program = small_program();
  program.values.push_back({.name = "s", .shape = {2}, .strides = {1}});
  program.state.push_back({.before = 2, .after = 1});
  EXPECT_NE(
      violation(program).find(R"(state "s" is [2] f32, its new value "r" is [2, 3] f32)"),
      std::string::npos
  );
}

TEST(Verify, FindsALossThatIsNoScalar) {
  Program program = small_program();
  program.loss = 1;
  EXPECT_NE(violation(program).find(R"(loss "r" is [2, 3] f32, not 0-d f32)"), std::string::npos);
}

TEST(Verify, FindsScalarsOfTheWrongKind) {
  Program program = small_program();
  program.values.push_back({.name = "s", .shape = {}, .strides = {}, .dtype = DType::BF16});
  program.scalars.push_back(2);
  EXPECT_NE(violation(program).find(R"(scalar "s" is [] bf16)"), std::string::npos);
}

TEST(Verify, FindsAValueThatNothingDefines) {
  Program program = small_program();
  program.values.push_back({.name = "orphan"});
  EXPECT_NE(violation(program).find("value 2 is never defined"), std::string::npos);
}

TEST(Verify, FindsIdsOutOfRange) {
  Program program = small_program();
  program.outputs.push_back(7);
  EXPECT_NE(violation(program).find("an output is value 7 of 2"), std::string::npos);
}

TEST(Verify, FindsAnAlignmentThatIsNoPowerOfTwo) {
  Program program = small_program();
  program.inputs[0].alignment_bytes = 12;
  EXPECT_NE(violation(program).find("alignment 12 is no power of two"), std::string::npos);
}

}  // namespace
}  // namespace whet
