// Refusals of a workload file beside those of its ops, with their messages: file, JSON path,
// expected, found.
#include <gtest/gtest.h>

#include "error/workload_refusal.hpp"

namespace whet {
namespace {

using testing::changed;
using testing::kBase;
using testing::refusal;
using testing::with_op;

TEST(WorkloadFile, IsAcceptedUnchanged) { EXPECT_EQ(refusal(std::string(kBase)), "accepted"); }

// --- the document ---

TEST(WorkloadFile, MustBeJson) {
  EXPECT_EQ(refusal("{\"schema\": }").substr(0, 8), "f.json: ");
  EXPECT_EQ(refusal("").substr(0, 8), "f.json: ");
}

TEST(WorkloadFile, MustBeAnObject) {
  EXPECT_EQ(refusal("[1]"), R"(f.json: $: expected an object with "schema", found an array of 1)");
}

TEST(WorkloadFile, MayNotNestDeeply) {
  EXPECT_NE(refusal(std::string(1'000'000, '[')), "accepted");
  EXPECT_NE(
      refusal(R"({"schema": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}"),
      "accepted"
  );
}

TEST(WorkloadFile, MayNotHaveAKeyTwice) {
  EXPECT_EQ(
      changed(R"("loss": "loss",)", R"("loss": "loss", "loss": "y",)"),
      "f.json: $.loss: expected each key once, found it a second time"
  );
}

TEST(WorkloadFile, MustHaveTheSchema) {
  EXPECT_EQ(
      changed("whet.workload/1", "whet.workload/2"),
      R"(f.json: $.schema: expected "whet.workload/1", found the string "whet.workload/2")"
  );
}

TEST(WorkloadFile, MayNotHaveUnknownKeys) {
  const std::string message = changed(R"("optimizer")", R"("optimiser")");
  EXPECT_NE(message.find(R"(found "optimiser" (did you mean "optimizer"?))"), std::string::npos)
      << message;
}

TEST(WorkloadFile, MustExist) {
  try {
    load_workload("/nonexistent/w.json");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/w.json"), std::string::npos);
  }
}

TEST(WorkloadFile, MustHaveOneForm) {
  EXPECT_EQ(
      changed(R"("forward")", R"("body": [], "forward")"),
      R"(f.json: $: expected either "forward" or "body", found both)"
  );
  EXPECT_EQ(
      refusal(R"({"schema": "whet.workload/1", "name": "t"})"),
      R"(f.json: $: expected either "forward" or "body", found neither)"
  );
}

TEST(WorkloadFile, MustHaveAResult) {
  EXPECT_EQ(
      refusal(R"({"schema": "whet.workload/1", "name": "t", "body": []})"),
      R"(f.json: $: expected "outputs", or state that changes, found a program without a result)"
  );
}

// --- names ---

TEST(WorkloadNames, MayNotBeEmptyOrEndless) {
  EXPECT_EQ(
      changed(R"("name": "x")", R"("name": "")"),
      "f.json: $.inputs[0].name: expected a name of 1 to 10000 characters, found one of 0"
  );
  EXPECT_EQ(
      changed(R"("name": "x")", R"("name": ")" + std::string(10'001, 'x') + "\""),
      "f.json: $.inputs[0].name: expected a name of 1 to 10000 characters, found one of 10001"
  );
}

TEST(WorkloadNames, MayNotBeTaken) {
  EXPECT_EQ(
      changed(R"("name": "t")", R"("name": "x")"),
      R"(f.json: $.inputs[1].name: expected a name that is not taken, found "x", which )"
      "f.json: $.inputs[0].name defines"
  );
  EXPECT_EQ(
      changed(R"("out": "y")", R"("out": "w")"),
      R"(f.json: $.forward[0].out: expected a name that is not taken, found "w", which )"
      "f.json: $.state[0].name defines"
  );
  EXPECT_EQ(
      with_op(R"({"op": "neg", "in": ["x"], "out": "y"})"),
      R"(f.json: $.forward[1].out: expected a name that is not taken, found "y", which )"
      "f.json: $.forward[0].out defines"
  );
}

TEST(WorkloadNames, MayNotLookLikeGradientsInAForwardPart) {
  EXPECT_EQ(
      with_op(R"({"op": "neg", "in": ["x"], "out": "grad:w"})"),
      R"(f.json: $: expected names that do not start with "grad:", which are the gradients', )"
      R"(found "grad:w")"
  );
}

// --- dimensions ---

TEST(WorkloadDims, MustBeIntegersWithinTheLimit) {
  EXPECT_EQ(
      changed(R"("n": 4)", R"("n": -1)"),
      "f.json: $.dims.n: expected an integer from 0 to 2147483648, found -1"
  );
  EXPECT_EQ(
      changed(R"("n": 4)", R"("n": 2.0)"),
      "f.json: $.dims.n: expected an integer from 0 to 2147483648, found 2.0"
  );
  EXPECT_EQ(
      changed(R"("n": 4)", R"("n": "4")"),
      "f.json: $.dims.n: expected an integer from 0 to 2147483648, found the string \"4\""
  );
  EXPECT_EQ(
      changed(R"("n": 4)", R"("n": 9223372036854775808)"),
      "f.json: $.dims.n: expected an integer from 0 to 2147483648, found 9223372036854775808"
  );
  EXPECT_EQ(
      changed(R"("n": 4)", R"("": 4, "n": 4)"),
      "f.json: $.dims: expected a name for each dimension, found an empty one"
  );
}

TEST(WorkloadDims, MustBeDefinedWhereTheyAreUsed) {
  EXPECT_EQ(
      changed(R"("shape": ["n", 3])", R"("shape": ["m", 3])"),
      R"(f.json: $.inputs[0].shape[0]: expected the name of a dimension ("n"), found "m")"
  );
}

TEST(WorkloadDims, CanOnlyBeReplacedWhereTheFileHasThem) {
  EXPECT_EQ(
      refusal(std::string(kBase), {{"batch", 8}}),
      R"(f.json: $.dims: expected a dimension of this file ("n"), found an override of "batch")"
  );
  EXPECT_EQ(
      refusal(R"({"schema": "whet.workload/1", "name": "t", "body": []})", {{"n", 8}}),
      R"(f.json: $: expected a dimension of this file (none), found an override of "n")"
  );
  EXPECT_EQ(
      refusal(std::string(kBase), {{"n", -8}}),
      R"(f.json: $.dims: expected an override of "n" with 0 to 2147483648, found -8)"
  );
}

// --- tensors ---

TEST(WorkloadShape, MustBeAListOfSizes) {
  EXPECT_EQ(
      changed(R"("shape": ["n", 3])", R"("shape": [2.0, 3])"),
      "f.json: $.inputs[0].shape[0]: expected an integer or the name of a dimension, found 2.0"
  );
  EXPECT_EQ(
      changed(R"("shape": ["n", 3])", R"("shape": [-1, 3])"),
      "f.json: $.inputs[0].shape[0]: expected an integer from 0 to 2147483648, found -1"
  );
  EXPECT_EQ(
      changed(R"("shape": ["n", 3])", R"("shape": 12)"),
      "f.json: $.inputs[0].shape: expected an array, found 12"
  );
}

TEST(WorkloadShape, KeepsTheLimits) {
  EXPECT_EQ(
      changed(R"("shape": ["n", 3])", R"("shape": [2147483648, 2147483648, 2147483648])"),
      "f.json: $.inputs[0].shape: expected at most 1099511627776 elements, found an array of 3"
  );
  std::string many = "1";
  for (int i = 1; i < 10'000; ++i) {
    many += ",1";
  }
  EXPECT_EQ(
      changed(R"("shape": ["n", 3])", "\"shape\": [" + many + "]"),
      "f.json: $.inputs[0].shape: expected at most 8 dimensions, found an array of 10000"
  );
}

TEST(WorkloadTensor, MustHaveAKnownDtype) {
  EXPECT_EQ(
      changed(R"("dtype": "f32", "fill")", R"("dtype": "float", "fill")"),
      R"(f.json: $.inputs[0].dtype: expected f32, bf16, f16, i64, i32 or bool, found "float")"
  );
  EXPECT_EQ(
      changed(R"("dtype": "f32", "fill")", R"("dtype": "f64", "fill")"),
      R"(f.json: $.inputs[0].dtype: expected f32, bf16, f16, i64, i32 or bool, found "f64" )"
      "(only the reference computes in it)"
  );
}

TEST(WorkloadTensor, MustHaveAllItsKeysAndNoOthers) {
  EXPECT_EQ(
      changed(R"("name": "x", )", ""),
      R"(f.json: $.inputs[0]: expected a member "name", found only "shape", "dtype", "fill")"
  );
  EXPECT_EQ(
      changed(R"(, "fill": {"kind": "normal"}})", "}"),
      R"(f.json: $.inputs[0]: expected a member "fill", found only "name", "shape", "dtype")"
  );
  EXPECT_NE(
      changed(R"("name": "w",)", R"("name": "w", "strides": [2, 1],)").find(R"(found "strides")"),
      std::string::npos
  );
}

TEST(WorkloadInput, MustHaveStridesThatFit) {
  EXPECT_EQ(
      changed(R"("name": "x",)", R"("name": "x", "strides": [1],)"),
      "f.json: $.inputs[0].strides: expected 2 strides, one for each dimension, found 1"
  );
  EXPECT_EQ(
      changed(R"("name": "x",)", R"("name": "x", "strides": [-3, 1],)"),
      "f.json: $.inputs[0].strides[0]: expected an integer from 0 to 1099511627776, found -3"
  );
  EXPECT_EQ(
      changed(R"("name": "x",)", R"("name": "x", "strides": [549755813888, 1],)"),
      "f.json: $.inputs[0].strides: expected strides that reach at most 1099511627776 elements, "
      "found an array of 2"
  );
}

TEST(WorkloadInput, MustHaveAnAlignmentThatIsAPowerOfTwo) {
  EXPECT_EQ(
      changed(R"("name": "x",)", R"("name": "x", "alignment": 12,)"),
      "f.json: $.inputs[0].alignment: expected a power of two, found 12"
  );
  EXPECT_EQ(
      changed(R"("name": "x",)", R"("name": "x", "alignment": 2,)"),
      "f.json: $.inputs[0].alignment: expected an integer from 4 to 4096, found 2"
  );
}

TEST(WorkloadInput, MustSayTrueOrFalseAboutStable) {
  EXPECT_EQ(
      changed(R"("name": "x",)", R"("name": "x", "stable": 1,)"),
      "f.json: $.inputs[0].stable: expected true or false, found 1"
  );
}

TEST(WorkloadScalar, MustBeFinite) {
  EXPECT_EQ(
      changed("0.001", R"("nan")"),
      R"(f.json: $.scalars[0].value: expected a number, found the string "nan")"
  );
  EXPECT_EQ(
      changed("0.001", "1e39"),
      "f.json: $.scalars[0].value: expected a number that f32 holds, "
      "found 1e+39"
  );
  EXPECT_NE(changed("0.001", "1e400"), "accepted");
}

TEST(WorkloadScalar, MustBeF32OrI64) {
  EXPECT_EQ(
      changed(R"("dtype": "f32", "value")", R"("dtype": "bf16", "value")"),
      R"(f.json: $.scalars[0].dtype: expected f32 or i64 for a scalar, found the string "bf16")"
  );
  EXPECT_EQ(
      changed(R"("dtype": "f32", "value")", R"("dtype": "i64", "value")"),
      "f.json: $.scalars[0].value: expected an integer from -9007199254740992 to "
      "9007199254740992, found 0.001"
  );
}

TEST(WorkloadFill, MustBeKnown) {
  EXPECT_EQ(
      changed(R"({"kind": "normal"})", R"({"kind": "gauss"})"),
      "f.json: $.inputs[0].fill.kind: expected normal, uniform, zeros, ones, integers or one_hot, "
      "found the string \"gauss\""
  );
  EXPECT_EQ(
      changed(R"({"kind": "normal"})", R"({"kind": "zeros", "scale": 1})"),
      R"(f.json: $.inputs[0].fill: expected only the keys "kind", found "scale")"
  );
}

TEST(WorkloadFill, MustHaveAScaleThatIsANumberOrTheRootOfADimension) {
  EXPECT_EQ(
      changed(R"({"kind": "normal"})", R"({"kind": "normal", "scale": -1})"),
      "f.json: $.inputs[0].fill.scale: expected a scale of at least 0, found -1"
  );
  EXPECT_EQ(
      changed(R"({"kind": "normal"})", R"({"kind": "normal", "scale": "1e-5"})"),
      "f.json: $.inputs[0].fill.scale: expected a number, found the string \"1e-5\""
  );
  EXPECT_EQ(
      changed(R"({"kind": "normal"})", R"({"kind": "normal", "scale": {"rsqrt": "in"}})"),
      R"(f.json: $.inputs[0].fill.scale.rsqrt: expected the name of a dimension ("n"), found "in")"
  );
}

TEST(WorkloadFill, MustSuitTheTensor) {
  EXPECT_EQ(
      changed(R"("dtype": "f32", "fill")", R"("dtype": "i64", "fill")"),
      R"(f.json: $.inputs[0].fill.kind: expected zeros, ones or integers for i64, found "normal")"
  );
  EXPECT_EQ(
      changed(
          R"("shape": ["n", 3], "dtype": "f32", "fill": {"kind": "normal"})",
          R"("shape": [], "dtype": "f32", "fill": {"kind": "one_hot"})"
      ),
      "f.json: $.inputs[0].fill.kind: expected one_hot only for a tensor with at least 1 "
      "dimension, found a 0-d one"
  );
  EXPECT_EQ(
      changed(R"({"kind": "normal"})", R"({"kind": "integers", "low": 3, "high": 3})"),
      "f.json: $.inputs[0].fill.high: expected an integer from 4 to 16777216, found 3"
  );
  EXPECT_EQ(
      changed(
          R"("dtype": "f32", "fill": {"kind": "normal"})",
          R"("dtype": "bool", "fill": {"kind": "integers", "low": 0, "high": 3})"
      ),
      "f.json: $.inputs[0].fill.high: expected an integer from 1 to 2, found 3"
  );
}

// --- loss, optimizer, updates, outputs ---

TEST(WorkloadLoss, MustBeAZeroDimensionalF32) {
  EXPECT_EQ(
      changed(R"("loss": "loss")", R"("loss": "y")"),
      R"(f.json: $.loss: expected a 0-d f32 value, found "y" [4, 2] f32)"
  );
  EXPECT_EQ(
      changed(R"("loss": "loss")", R"("loss": "lost")"),
      R"(f.json: $.loss: expected a defined value, found "lost" (did you mean "loss"?))"
  );
}

TEST(WorkloadLoss, MustHaveDerivatives) {
  const std::string message = changed(
      R"({"op": "mse_loss", "in": ["y", "t"], "out": "loss"})",
      R"({"op": "full", "shape": [], "value": 1, "dtype": "f32", "out": "one"},
         {"op": "mse_loss_backward", "in": ["one", "y", "t"], "out": "d"},
         {"op": "sum", "in": ["d"], "out": "loss"})"
  );
  EXPECT_EQ(
      message,
      "f.json: $.forward: mse_loss_backward: expected an op with a derivative in a forward part, "
      "found \"d\" = mse_loss_backward (a step that is already differentiated goes into \"body\" "
      "and \"updates\")"
  );
}

TEST(WorkloadOptimizer, MustBeSgdWithAScalarRate) {
  EXPECT_EQ(
      changed(R"("kind": "sgd")", R"("kind": "adam")"),
      R"(f.json: $.optimizer.kind: expected "sgd", found the string "adam")"
  );
  EXPECT_EQ(
      changed(R"("lr": "lr")", R"("lr": "w")"),
      R"(f.json: $.optimizer.lr: expected the name of an f32 scalar from "scalars", found the string "w")"
  );
  EXPECT_EQ(
      changed(R"("lr": "lr")", R"("lr": 0.001)"),
      "f.json: $.optimizer.lr: expected a string, found 0.001"
  );
}

TEST(WorkloadOptimizer, NeedsALoss) {
  EXPECT_EQ(
      changed(R"("loss": "loss",)", ""),
      R"(f.json: $.optimizer: expected "optimizer" only beside "loss", found a file without "loss")"
  );
}

TEST(WorkloadOptimizer, TrainsOnlyFloatingState) {
  EXPECT_EQ(
      changed(
          R"("state": [)",
          R"("state": [{"name": "i", "shape": [], "dtype": "i64", "fill": {"kind": "zeros"}}, )"
      ),
      R"(f.json: $.optimizer: expected state of f32, bf16 or f16, found "i" [] i64)"
  );
}

/// A captured step with x [2], state s [2] and n [3], and the given rest.
std::string captured(const std::string& rest) {
  return refusal(
      R"({"schema": "whet.workload/1", "name": "t",
      "inputs": [{"name": "x", "shape": [2], "dtype": "f32", "fill": {"kind": "normal"}}],
      "state": [{"name": "s", "shape": [2], "dtype": "f32", "fill": {"kind": "normal"}},
                {"name": "n", "shape": [3], "dtype": "f32", "fill": {"kind": "normal"}}],
      "body": [{"op": "neg", "in": ["x"], "out": "y"}], )" +
      rest + "}"
  );
}

TEST(WorkloadUpdates, MustNameStateAndValuesThatFit) {
  EXPECT_EQ(captured(R"("updates": {"s": "y"})"), "accepted");
  EXPECT_EQ(
      captured(R"("updates": {"x": "y"})"),
      R"(f.json: $.updates.x: expected the name of a state tensor as the key, found "x")"
  );
  EXPECT_EQ(
      captured(R"("updates": {"n": "y"})"),
      R"(f.json: $.updates.n: expected [3] f32 as "n" is, found "y" [2] f32)"
  );
  EXPECT_EQ(
      captured(R"("updates": {"s": "z"})"),
      R"(f.json: $.updates.s: expected a defined value, found "z")"
  );
}

TEST(WorkloadUpdates, BelongToABody) {
  EXPECT_EQ(
      changed(R"("optimizer")", R"("updates": {}, "optimizer")"),
      R"(f.json: $.updates: expected "updates" only beside "body", found "updates")"
  );
  EXPECT_EQ(
      captured(R"("optimizer": {"kind": "sgd", "lr": "x"})"),
      R"(f.json: $.optimizer: expected "optimizer" only beside "forward", found "optimizer")"
  );
}

TEST(WorkloadOutputs, MustBeDefinedAndDistinct) {
  EXPECT_EQ(
      changed(R"("outputs": ["loss"])", R"("outputs": ["los"])"),
      R"(f.json: $.outputs[0]: expected a defined value, found "los" (did you mean "loss"?))"
  );
  EXPECT_EQ(
      changed(R"("outputs": ["loss"])", R"("outputs": ["y", "y"])"),
      R"(f.json: $.outputs[1]: expected each output once, found "y" a second time)"
  );
  EXPECT_EQ(
      changed(R"("outputs": ["loss"])", R"("outputs": ["grad:x"])"),
      R"(f.json: $.outputs[0]: expected "grad:" and the name of a state tensor, in a file with )"
      R"("loss", found "grad:x")"
  );
}

// --- batches and validation ---

TEST(WorkloadCounts, KeepTheirLimits) {
  EXPECT_EQ(
      changed(R"("outputs")", R"("batches": 0, "outputs")"),
      "f.json: $.batches: expected an integer from 1 to 64, found 0"
  );
  EXPECT_EQ(
      changed(R"("outputs")", R"("batches": 65, "outputs")"),
      "f.json: $.batches: expected an integer from 1 to 64, found 65"
  );
  EXPECT_EQ(
      changed(R"("outputs")", R"("validation": {"steps": 0}, "outputs")"),
      "f.json: $.validation.steps: expected an integer from 1 to 100000, found 0"
  );
  EXPECT_EQ(
      changed(R"("outputs")", R"("validation": {"steps": 5, "replay_steps": 6}, "outputs")"),
      "f.json: $.validation.replay_steps: expected an integer from 1 to 5, found 6"
  );
}

TEST(WorkloadCounts, NeedDistinctSeeds) {
  EXPECT_EQ(
      changed(R"("outputs")", R"("validation": {"seeds": []}, "outputs")"),
      "f.json: $.validation.seeds: expected 1 to 64 seeds, found an array of 0"
  );
  EXPECT_EQ(
      changed(R"("outputs")", R"("validation": {"seeds": [1, 1]}, "outputs")"),
      "f.json: $.validation.seeds[1]: expected each seed once, found 1"
  );
  EXPECT_EQ(
      changed(R"("outputs")", R"("validation": {"seeds": [-1]}, "outputs")"),
      "f.json: $.validation.seeds[0]: expected an integer of at least 0, found -1"
  );
}

}  // namespace
}  // namespace whet
