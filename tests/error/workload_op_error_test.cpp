// Refusals of the ops of a workload file, with their messages.
#include <gtest/gtest.h>

#include "error/workload_refusal.hpp"

namespace whet {
namespace {

using testing::with_op;

TEST(WorkloadOp, MustBeKnown) {
  const std::string message = with_op(R"({"op": "reluu", "in": ["x"], "out": "r"})");
  EXPECT_EQ(
      message,
      "f.json: $.forward[0].op: expected an op (mm, addmm, add, sub, mul, div, neg, relu, "
      "threshold_backward, pow, cast, mse_loss_backward, full, sum, mean, mse_loss, transpose, "
      "permute, reshape, expand, select, slice, select_backward, slice_backward), found \"reluu\" "
      "(did you mean \"relu\"?)"
  );
}

TEST(WorkloadOp, MayNotBeRandom) {
  for (const std::string name : {"dropout", "native_dropout", "bernoulli_", "rand", "randn_like"}) {
    EXPECT_EQ(
        with_op(R"({"op": ")" + name + R"(", "in": ["x"], "out": "r"})"),
        "f.json: $.forward[0].op: expected an op whose result its operands decide, found \"" +
            name + "\", which is random (draw the numbers outside and pass them as an input)"
    );
  }
}

TEST(WorkloadOp, MayNotWorkInPlace) {
  EXPECT_EQ(
      with_op(R"({"op": "add_", "in": ["x", "x"], "out": "r"})"),
      "f.json: $.forward[0].op: expected an op that leaves its operands alone, found \"add_\", "
      "which works in place (use \"add\" and give the result a name)"
  );
}

TEST(WorkloadOp, MayNotHaveKeysOfOtherOps) {
  EXPECT_EQ(
      with_op(R"({"op": "mul", "in": ["x", "x"], "alpha": 2, "out": "r"})"),
      R"(f.json: $.forward[0]: expected only the keys "op", "in", "out", "other", found "alpha")"
  );
}

TEST(WorkloadOp, MustHaveItsAttributes) {
  EXPECT_EQ(
      with_op(R"({"op": "pow", "in": ["x"], "out": "r"})"),
      R"(f.json: $.forward[0]: expected a member "exponent", found only "op", "in", "out")"
  );
  EXPECT_EQ(
      with_op(R"({"op": "mul", "in": ["x"], "out": "r"})"),
      R"(f.json: $.forward[0]: expected a member "other", found only "op", "in", "out")"
  );
  EXPECT_EQ(
      with_op(R"({"op": "cast", "in": ["x"], "dtype": "i64", "out": "r"})"),
      R"(f.json: $.forward[0].dtype: expected f32, bf16 or f16, found the string "i64")"
  );
  EXPECT_EQ(
      with_op(R"({"op": "add", "in": ["x", "x"], "alpha": "nan", "out": "r"})"),
      R"(f.json: $.forward[0].alpha: expected a number, found the string "nan")"
  );
  EXPECT_EQ(
      with_op(R"({"op": "add", "in": ["x"], "other": "1e-5", "out": "r"})"),
      R"(f.json: $.forward[0].other: expected a number, "inf", "-inf" or "nan", found the string "1e-5")"
  );
  EXPECT_EQ(
      with_op(R"({"op": "sum", "in": ["x"], "dim": [99], "out": "r"})"),
      "f.json: $.forward[0].dim[0]: expected an integer from -8 to 7, found 99"
  );
}

TEST(WorkloadOp, TakesConstantsOnlyAsOther) {
  EXPECT_EQ(
      with_op(R"({"op": "mul", "in": ["x", 2], "out": "r"})"),
      "f.json: $.forward[0].in[1]: expected the name of a tensor (a constant second operand is "
      "written \"other\"), found 2"
  );
  EXPECT_EQ(
      with_op(R"({"op": "mul", "in": ["x", "x"], "other": 2, "out": "r"})"),
      "f.json: $.forward[0].other: expected \"other\" only beside one operand, found 2 operands "
      "in \"in\""
  );
}

TEST(WorkloadOp, HasOneResult) {
  EXPECT_EQ(
      with_op(R"({"op": "neg", "in": ["x"], "out": ["a", "b"]})"),
      "f.json: $.forward[0].out: expected one name, as this op has one result, found an array of 2"
  );
  EXPECT_EQ(
      with_op(R"({"op": "neg", "in": ["x"]})"),
      R"(f.json: $.forward[0]: expected a member "out", found only "op", "in")"
  );
}

TEST(WorkloadOp, MustHaveOperandsThatFit) {
  EXPECT_EQ(
      with_op(R"({"op": "mm", "in": ["x", "t"], "out": "r"})"),
      "f.json: $.forward[0]: mm: expected 3 rows in the second matrix, as many as \"x\" [4, 3] f32 "
      "has columns, found \"t\" [4, 2] f32"
  );
  EXPECT_EQ(
      with_op(R"({"op": "neg", "in": [], "out": "r"})"),
      "f.json: $.forward[0]: neg: expected 1 input, found 0"
  );
  EXPECT_EQ(
      with_op(R"({"op": "expand", "in": ["x"], "shape": ["n", "n", 3, 3], "out": "r"})"),
      "f.json: $.forward[0]: expand: expected a shape that [4, 3] f32 expands to, found "
      "[4, 4, 3, 3]"
  );
}

TEST(WorkloadOp, MustHaveOperandsThatExist) {
  EXPECT_EQ(
      with_op(R"({"op": "neg", "in": ["xx"], "out": "r"})"),
      R"(f.json: $.forward[0].in[0]: expected a defined value, found "xx")"
  );
}

TEST(WorkloadOp, MustComeAfterItsOperands) {
  EXPECT_EQ(
      with_op(R"({"op": "neg", "in": ["y"], "out": "r"})"),
      R"(f.json: $.forward[0].in[0]: expected a value that an earlier op defines, found "y", which )"
      "op 1 of this list defines later: move it up"
  );
}

TEST(WorkloadOp, MayNotBePartOfACycle) {
  EXPECT_EQ(
      with_op(
          R"({"op": "neg", "in": ["b"], "out": "a"}, {"op": "neg", "in": ["c"], "out": "b"},
             {"op": "add", "in": ["x", "a"], "out": "c"})"
      ),
      R"(f.json: $.forward[0].in[0]: expected ops without a cycle, found "a" needs "b" needs "c" needs "a")"
  );
  EXPECT_EQ(
      with_op(R"({"op": "neg", "in": ["a"], "out": "a"})"),
      R"(f.json: $.forward[0].in[0]: expected ops without a cycle, found "a" needs "a")"
  );
}

}  // namespace
}  // namespace whet
