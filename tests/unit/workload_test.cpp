#include "ir/workload.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/philox.hpp"
#include "support/interpreter.hpp"

namespace whet {
namespace {

using Dims = std::vector<std::int64_t>;

std::filesystem::path shipped(const std::string& name) {
  return std::filesystem::path(WHET_SOURCE_DIR) / "workloads" / name;
}

Workload parse(const std::string& text, const DimOverrides& dims = {}) {
  return parse_workload(text, "test.json", dims);
}

const ProgramState& state_called(const Program& program, const std::string& name) {
  for (const ProgramState& state : program.state) {
    if (program.value(state.before).name == name) {
      return state;
    }
  }
  throw std::out_of_range(name);
}

/// A file with one state tensor `w`, x as input and the given rest.
std::string file_with(const std::string& rest) {
  return R"({"schema": "whet.workload/1", "name": "t",
    "inputs": [{"name": "x", "shape": [2, 3], "dtype": "f32", "fill": {"kind": "normal"}}],
    "scalars": [{"name": "lr", "dtype": "f32", "value": 0.5}],
    "state": [{"name": "w", "shape": [2, 3], "dtype": "f32", "fill": {"kind": "ones"}}], )" +
         rest + "}";
}

TEST(Workload, TheExampleIsReadInFull) {
  const Workload workload = load_workload(shipped("online.json"));
  EXPECT_EQ(workload.name, "online");
  EXPECT_EQ(workload.about, "two-layer MLP, one SGD step a batch");
  EXPECT_EQ(workload.optimizer, (Optimizer{.kind = "sgd", .lr = "lr"}));
  EXPECT_EQ(workload.scalar_values, std::vector<double>{1e-3});
  EXPECT_EQ(workload.output_names, std::vector<std::string>{"loss"});
  EXPECT_EQ(workload.num_batches, 4);
  EXPECT_EQ(workload.validation, Validation{});
  ASSERT_EQ(workload.input_fills.size(), 2u);
  ASSERT_EQ(workload.state_fills.size(), 4u);
  EXPECT_EQ(workload.state_fills[0], (Fill{.kind = Fill::Kind::Normal, .scale = 0.125}));
  EXPECT_EQ(workload.state_fills[1].kind, Fill::Kind::Zeros);
  EXPECT_DOUBLE_EQ(workload.state_fills[2].scale, 1.0 / std::sqrt(128.0));

  const Program& step = workload.step;
  ASSERT_EQ(step.inputs.size(), 2u);
  EXPECT_TRUE(step.inputs[0].stable);
  EXPECT_EQ(step.inputs[0].alignment_bytes, 16);
  EXPECT_EQ(describe(step.value(step.inputs[0].value)), "[16, 64] bf16");
  ASSERT_EQ(step.outputs.size(), 1u);
  EXPECT_EQ(step.loss, step.outputs[0]);
  ASSERT_TRUE(workload.forward.has_value());
  EXPECT_EQ(workload.forward->ops.size(), 12u);
}

TEST(Workload, EveryStateTensorOfATrainingStepChanges) {
  for (const char* name : {"mlp.json", "mlp_f32.json", "head.json", "head_f32.json"}) {
    const Workload workload = load_workload(shipped(name));
    for (const ProgramState& state : workload.step.state) {
      EXPECT_NE(state.before, state.after) << name;
    }
  }
}

TEST(Workload, TheForwardPartKeepsItsStateAndItsOrder) {
  const Workload workload = load_workload(shipped("online.json"));
  const Program& forward = workload.forward.value();
  for (const ProgramState& state : forward.state) {
    EXPECT_EQ(state.before, state.after);
  }
  EXPECT_EQ(forward.value(forward.ops.front().output).name, "w1_low");
  EXPECT_EQ(forward.loss, forward.ops.back().output);
  EXPECT_EQ(forward.inputs, workload.step.inputs);
}

TEST(Workload, DimensionsCanBeReplaced) {
  const Workload workload =
      load_workload(shipped("mlp.json"), {{"batch", 1}, {"hidden", 7}, {"in", 25}});
  EXPECT_EQ(workload.step.value(workload.step.inputs[0].value).shape, (Dims{1, 25}));
  EXPECT_DOUBLE_EQ(workload.state_fills[0].scale, 0.2);
}

TEST(Workload, AnEmptyBatchIsLegal) {
  const Workload workload = load_workload(shipped("mlp.json"), {{"batch", 0}});
  EXPECT_EQ(workload.step.value(workload.step.inputs[0].value).shape, (Dims{0, 64}));
}

TEST(Workload, SgdSubtractsTheScaledGradient) {
  const Workload workload = parse(file_with(
      R"("forward": [{"op": "mul", "in": ["w", "x"], "out": "p"}, {"op": "sum", "in": ["p"], "out": "l"}],
         "loss": "l", "optimizer": {"kind": "sgd", "lr": "lr"}, "outputs": ["grad:w", "l"])"
  ));
  testing::Interpreter interpreter(workload.step);
  interpreter.set(workload.step.inputs[0].value, {1, 2, 3, 4, 5, 6});
  interpreter.set(workload.step.scalars[0], {workload.scalar_values[0]});
  interpreter.set(workload.step.state[0].before, {1, 1, 1, 1, 1, 1});
  interpreter.run();
  EXPECT_EQ(
      interpreter.get(workload.step.state[0].after), (testing::Values{0.5, 0, -0.5, -1, -1.5, -2})
  );
  EXPECT_EQ(interpreter.get(workload.step.outputs[0]), (testing::Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(interpreter.get(workload.step.outputs[1]), testing::Values{21});
}

TEST(Workload, TheRateIsCastToTheDtypeOfTheState) {
  const Workload workload = parse(R"({"schema": "whet.workload/1", "name": "t",
    "scalars": [{"name": "lr", "dtype": "f32", "value": 0.5}],
    "state": [{"name": "w", "shape": [3], "dtype": "bf16", "fill": {"kind": "ones"}}],
    "forward": [{"op": "cast", "in": ["w"], "dtype": "f32", "out": "u"},
                {"op": "sum", "in": ["u"], "out": "l"}],
    "loss": "l", "optimizer": {"kind": "sgd", "lr": "lr"}})");
  const Program& step = workload.step;
  EXPECT_EQ(step.value(step.state[0].after).dtype, DType::BF16);
  const std::string text = to_text(step);
  EXPECT_NE(text.find("[] bf16 = cast(lr)"), std::string::npos) << text;
}

TEST(Workload, AHundredStepsChangeEveryWeightOfTheShippedFiles) {
  for (const char* name : {"mlp.json", "mlp_f32.json", "head.json", "head_f32.json"}) {
    const Workload workload = load_workload(shipped(name), {{"batch", 4}, {"in", 8}});
    const Program& step = workload.step;
    testing::Interpreter interpreter(step);
    std::uint64_t stream = 0;
    const auto draw = [&](ValueId id, double scale) {
      testing::Values values;
      for (std::int64_t i = 0; i < num_elements(step.value(id).shape); ++i) {
        const double normal = Philox(101, stream).normal(static_cast<std::uint64_t>(i));
        values.push_back(testing::rounded_to(scale * normal, step.value(id).dtype));
      }
      ++stream;
      return values;
    };
    for (const ProgramInput& input : step.inputs) {
      interpreter.set(input.value, draw(input.value, 1.0));
    }
    interpreter.set(step.scalars[0], workload.scalar_values);
    std::vector<testing::Values> initial;
    for (std::size_t i = 0; i < step.state.size(); ++i) {
      const bool zeros = workload.state_fills[i].kind == Fill::Kind::Zeros;
      initial.push_back(draw(step.state[i].before, zeros ? 0.0 : workload.state_fills[i].scale));
      interpreter.set(step.state[i].before, initial.back());
    }
    for (int s = 0; s < workload.validation.num_steps; ++s) {
      interpreter.run();
      for (const ProgramState& state : step.state) {
        interpreter.set(state.before, interpreter.get(state.after));
      }
    }
    for (std::size_t i = 0; i < step.state.size(); ++i) {
      double change = 0.0;
      double norm = 0.0;
      for (std::size_t e = 0; e < initial[i].size(); ++e) {
        change += std::pow(interpreter.get(step.state[i].before)[e] - initial[i][e], 2);
        norm += std::pow(initial[i][e], 2);
      }
      EXPECT_GT(std::sqrt(change), 1e-4 * std::sqrt(norm)) << name << " state " << i;
      EXPECT_GT(change, 0.0) << name << " state " << i;
    }
  }
}

TEST(Workload, ACapturedStepUpdatesWhatItSays) {
  const Workload workload = parse(file_with(
      R"("body": [{"op": "add", "in": ["w", "x"], "alpha": 0.25, "out": "w_new"}],
         "updates": {"w": "w_new"})"
  ));
  EXPECT_FALSE(workload.forward.has_value());
  EXPECT_FALSE(workload.optimizer.has_value());
  ASSERT_EQ(workload.step.ops.size(), 1u);
  EXPECT_EQ(workload.step.state[0].after, workload.step.ops[0].output);
  EXPECT_EQ(workload.step.ops[0].attributes.alpha, 0.25);
}

TEST(Workload, StateThatACapturedStepDoesNotUpdateStays) {
  const Workload workload =
      parse(file_with(R"("body": [{"op": "relu", "in": ["w"], "out": "r"}], "outputs": ["r"])"));
  EXPECT_EQ(workload.step.state[0].after, workload.step.state[0].before);
}

TEST(Workload, StatesCanTakeEachOthersPlace) {
  const Workload workload = parse(R"({"schema": "whet.workload/1", "name": "swap",
    "state": [{"name": "a", "shape": [2], "dtype": "f32", "fill": {"kind": "ones"}},
              {"name": "b", "shape": [2], "dtype": "f32", "fill": {"kind": "zeros"}}],
    "body": [], "updates": {"a": "b", "b": "a"}})");
  EXPECT_EQ(workload.step.state[0].after, workload.step.state[1].before);
  EXPECT_EQ(workload.step.state[1].after, workload.step.state[0].before);
}

TEST(Workload, AFileWithoutLossIsInference) {
  const Workload workload = parse(
      file_with(R"("forward": [{"op": "mul", "in": ["x", "w"], "out": "y"}], "outputs": ["y"])")
  );
  EXPECT_EQ(workload.step.loss, std::nullopt);
  EXPECT_EQ(workload.step.ops.size(), 1u);
}

TEST(Workload, AnInputOrStateCanBeAnOutput) {
  const Workload workload = parse(file_with(R"("body": [], "outputs": ["x", "w"])"));
  EXPECT_EQ(workload.step.outputs[0], workload.step.inputs[0].value);
  EXPECT_EQ(workload.step.outputs[1], workload.step.state[0].before);
}

TEST(Workload, OpsThatNothingNeedsAreDropped) {
  const Workload workload = parse(file_with(
      R"("body": [{"op": "neg", "in": ["x"], "out": "unused"}, {"op": "relu", "in": ["x"], "out": "r"}],
         "outputs": ["r"])"
  ));
  EXPECT_EQ(workload.step.ops.size(), 1u);
}

TEST(Workload, ACapturedStepMayCallAValueGradient) {
  const Workload workload = parse(
      file_with(R"("body": [{"op": "neg", "in": ["x"], "out": "grad:w"}], "outputs": ["grad:w"])")
  );
  EXPECT_EQ(workload.step.outputs[0], workload.step.ops[0].output);
}

TEST(Workload, InputsCanBeStridedAndAligned) {
  const Workload workload = parse(R"({"schema": "whet.workload/1", "name": "t",
    "inputs": [{"name": "x", "shape": [4, 3], "strides": [5, 1], "dtype": "f16", "alignment": 2,
                "fill": {"kind": "uniform", "scale": 2}},
               {"name": "row", "shape": [4, 3], "strides": [0, 1], "dtype": "f16",
                "fill": {"kind": "zeros"}}],
    "body": [{"op": "add", "in": ["x", "row"], "out": "y"}], "outputs": ["y"]})");
  const Program& step = workload.step;
  EXPECT_EQ(step.value(step.inputs[0].value).strides, (Dims{5, 1}));
  EXPECT_EQ(step.inputs[0].alignment_bytes, 2);
  EXPECT_FALSE(step.inputs[0].stable);
  EXPECT_EQ(step.value(step.outputs[0]).strides, (Dims{3, 1}));
  EXPECT_EQ(workload.input_fills[0], (Fill{.kind = Fill::Kind::Uniform, .scale = 2.0}));
}

TEST(Workload, FillsOfIntegersKeepTheirBounds) {
  const Workload workload = parse(R"({"schema": "whet.workload/1", "name": "t",
    "inputs": [{"name": "i", "shape": [4], "dtype": "i64", "fill": {"kind": "integers", "low": -5, "high": 9}},
               {"name": "m", "shape": [4], "dtype": "bool", "fill": {"kind": "integers", "low": 0, "high": 2}},
               {"name": "t", "shape": [4, 3], "dtype": "f32", "fill": {"kind": "one_hot"}}],
    "body": [{"op": "cast", "in": ["i"], "dtype": "f32", "out": "y"}], "outputs": ["y"]})");
  EXPECT_EQ(workload.input_fills[0], (Fill{.kind = Fill::Kind::Integers, .low = -5, .high = 9}));
  EXPECT_EQ(workload.input_fills[2].kind, Fill::Kind::OneHot);
}

TEST(Workload, EveryOpHasASpelling) {
  const Workload workload = parse(R"({"schema": "whet.workload/1", "name": "t", "dims": {"n": 3},
    "inputs": [{"name": "x", "shape": [2, "n"], "dtype": "f32", "fill": {"kind": "normal"}},
               {"name": "w", "shape": ["n", 2], "dtype": "f32", "fill": {"kind": "normal"}}],
    "body": [{"op": "mm", "in": ["x", "w"], "out": "a"},
      {"op": "addmm", "in": ["a", "x", "w"], "alpha": 2, "beta": 0.5, "out": "b"},
      {"op": "add", "in": ["a", "b"], "alpha": -1, "out": "c"},
      {"op": "sub", "in": ["c"], "other": 1.5, "alpha": 2, "out": "d"},
      {"op": "mul", "in": ["d", "d"], "out": "e"},
      {"op": "div", "in": ["e"], "other": "inf", "out": ["f"]},
      {"op": "neg", "in": ["f"], "out": "g"},
      {"op": "relu", "in": ["g"], "out": "h"},
      {"op": "threshold_backward", "in": ["h", "g"], "threshold": 0.5, "out": "i"},
      {"op": "pow", "in": ["i"], "exponent": 3, "out": "j"},
      {"op": "cast", "in": ["j"], "dtype": "bf16", "out": "k"},
      {"op": "full", "shape": ["n"], "value": "-inf", "dtype": "bf16", "out": "l"},
      {"op": "sum", "in": ["k"], "dim": [-1], "keepdim": true, "out": "m"},
      {"op": "mean", "in": ["m"], "dim": 0, "out": "o"},
      {"op": "mse_loss", "in": ["l", "l"], "out": "p"},
      {"op": "mse_loss_backward", "in": ["p", "l", "l"], "out": "q"},
      {"op": "transpose", "in": ["x"], "dims": [0, 1], "out": "r"},
      {"op": "permute", "in": ["r"], "dims": [1, 0], "out": "s"},
      {"op": "reshape", "in": ["r"], "shape": [-1], "out": "t"},
      {"op": "expand", "in": ["t"], "shape": ["n", -1], "out": "u"},
      {"op": "select", "in": ["u"], "dim": 0, "index": -1, "out": "v"},
      {"op": "slice", "in": ["v"], "dim": 0, "start": 1, "end": 6, "step": 2, "out": "y"},
      {"op": "select_backward", "in": ["v"], "shape": ["n", 6], "dim": 0, "index": 0, "out": "z"},
      {"op": "slice_backward", "in": ["y"], "shape": [6], "dim": 0, "start": 1, "step": 2, "out": "zz"}],
    "outputs": ["o", "q", "s", "y", "z", "zz"]})");
  std::set<OpKind> kinds;
  for (const Op& op : workload.step.ops) {
    kinds.insert(op.kind);
  }
  EXPECT_EQ(kinds.size(), op_names().size());
}

TEST(Workload, NamesNeedNotBeIdentifiers) {
  const std::string long_name(10'000, 'n');
  const std::vector<std::string> names{
      "layer1.weight", "1234", "new", "tanh", "blockIdx", "x*/", "🦔", long_name, "a-b", "a_b"};
  std::string inputs;
  std::string ops;
  std::string previous = names[0];
  for (const std::string& name : names) {
    const std::string comma = inputs.empty() ? "" : ",";
    const std::string sum = "sum" + std::to_string(inputs.size());
    ops += comma + R"({"op": "add", "in": [")" + previous + R"(", ")" + name + R"("], "out": ")" +
           sum + "\"}";
    inputs += comma + R"({"name": ")" + name +
              R"(", "shape": [2], "dtype": "f32", "fill": {"kind": "normal"}})";
    previous = sum;
  }
  const Workload workload = parse(
      R"({"schema": "whet.workload/1", "name": "odd", "inputs": [)" + inputs + R"(], "body": [)" +
      ops + R"(], "outputs": [")" + previous + "\"]}"
  );
  EXPECT_EQ(workload.step.inputs.size(), names.size());
  EXPECT_EQ(workload.step.ops.size(), names.size());
  EXPECT_EQ(workload.step.value(workload.step.inputs[5].value).name, "x*/");
}

TEST(Workload, TiedWeightsAreUpdatedOnce) {
  const Workload workload = parse(R"({"schema": "whet.workload/1", "name": "tied",
    "inputs": [{"name": "x", "shape": [2, 4], "dtype": "f32", "fill": {"kind": "normal"}}],
    "scalars": [{"name": "lr", "dtype": "f32", "value": 0.1}],
    "state": [{"name": "w", "shape": [4, 4], "dtype": "f32", "fill": {"kind": "normal"}}],
    "forward": [{"op": "mm", "in": ["x", "w"], "out": "y"},
      {"op": "transpose", "in": ["w"], "dims": [0, 1], "out": "wt"},
      {"op": "mm", "in": ["y", "wt"], "out": "z"},
      {"op": "pow", "in": ["z"], "exponent": 2, "out": "zz"},
      {"op": "mean", "in": ["zz"], "out": "loss"}],
    "loss": "loss", "optimizer": {"kind": "sgd", "lr": "lr"}})");
  int subtractions = 0;
  for (const Op& op : workload.step.ops) {
    subtractions += op.kind == OpKind::Sub ? 1 : 0;
  }
  EXPECT_EQ(subtractions, 1);
  EXPECT_EQ(workload.step.state.size(), 1u);
}

TEST(Workload, TheReplayIsNeverLongerThanTheTrajectory) {
  const Workload workload = parse(file_with(
      R"("body": [], "outputs": ["x"], "batches": 64, "validation": {"steps": 3, "seeds": [9007199254740993]})"
  ));
  EXPECT_EQ(workload.num_batches, 64);
  EXPECT_EQ(workload.validation.num_steps, 3);
  EXPECT_EQ(workload.validation.num_replay_steps, 3);
  EXPECT_EQ(workload.validation.seeds, std::vector<std::uint64_t>{9007199254740993u});
}

TEST(Workload, AnUpdateMayBeAViewOfAnotherState) {
  const Workload workload = parse(R"({"schema": "whet.workload/1", "name": "t",
    "state": [{"name": "a", "shape": [2, 3], "dtype": "f32", "fill": {"kind": "ones"}},
              {"name": "b", "shape": [3, 2], "dtype": "f32", "fill": {"kind": "zeros"}}],
    "body": [{"op": "transpose", "in": ["b"], "dims": [0, 1], "out": "t"}], "updates": {"a": "t"}})"
  );
  EXPECT_EQ(workload.step.value(state_called(workload.step, "a").after).strides, (Dims{1, 2}));
}

TEST(Suite, TheProgramsAreEightStepsInThreePrecisions) {
  const Suite suite = load_suite(shipped("programs.json"));
  std::set<std::string> keys;
  std::set<DType> dtypes;
  for (const SuiteEntry& entry : suite.entries) {
    const Program step = load_workload(entry.workload, entry.dims).step;
    keys.insert(workload_key(step));
    dtypes.insert(step.value(step.inputs[0].value).dtype);
  }
  EXPECT_EQ(keys.size(), 8u);
  EXPECT_EQ(dtypes, (std::set<DType>{DType::F32, DType::BF16, DType::F16}));
}

TEST(Suite, TheSeedsAreFiveStepsInTwoPrecisions) {
  const Suite suite = load_suite(shipped("seeds.json"));
  EXPECT_EQ(suite.name, "seeds");
  ASSERT_EQ(suite.entries.size(), 10u);
  std::vector<std::string> names;
  std::set<std::string> keys;
  for (const SuiteEntry& entry : suite.entries) {
    names.push_back(entry.name);
    const Workload workload = load_workload(entry.workload, entry.dims);
    keys.insert(workload_key(workload.step));
    const bool full = entry.name.ends_with("-f32");
    const Program& step = workload.step;
    EXPECT_EQ(step.value(step.inputs[0].value).dtype, full ? DType::F32 : DType::BF16);
  }
  EXPECT_EQ(keys.size(), 10u);
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "tiny-online",
          "online",
          "small",
          "medium",
          "classification-head",
          "tiny-online-f32",
          "online-f32",
          "small-f32",
          "medium-f32",
          "classification-head-f32"})
  );
  const Workload medium = load_workload(suite.entries[3].workload, suite.entries[3].dims);
  EXPECT_EQ(describe(medium.step.value(medium.step.state[2].before)), "[1024, 256] f32");
}

TEST(Suite, AnEntryIsCalledAsItsFileUnlessItSaysOtherwise) {
  const TemporaryFolder folder("whet-suite");
  write_file_atomically(folder.path() / "w.json", file_with(R"("body": [], "outputs": ["x"])"));
  write_file_atomically(
      folder.path() / "s.json",
      R"({"schema": "whet.suite/1", "name": "s", "about": "two", "entries": [{"workload": "w.json"},
          {"workload": "w.json", "as": "again"}]})"
  );
  const Suite suite = load_suite(folder.path() / "s.json");
  EXPECT_EQ(suite.about, "two");
  EXPECT_EQ(suite.entries[0].name, "w");
  EXPECT_EQ(suite.entries[1].name, "again");
  EXPECT_EQ(suite.entries[0].workload, folder.path() / "w.json");
}

}  // namespace
}  // namespace whet
