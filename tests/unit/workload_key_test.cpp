#include <gtest/gtest.h>

#include <clocale>

#include "ir/canonical.hpp"
#include "ir/workload.hpp"

namespace whet {
namespace {

constexpr std::string_view kBase =
    R"({"schema": "whet.workload/1", "name": "base", "dims": {"n": 4},
  "inputs": [{"name": "x", "shape": ["n", 3], "dtype": "f32", "fill": {"kind": "normal"}, "stable": true},
             {"name": "t", "shape": ["n", 2], "dtype": "f32", "fill": {"kind": "normal"}}],
  "scalars": [{"name": "lr", "dtype": "f32", "value": 0.001}],
  "state": [{"name": "w", "shape": [3, 2], "dtype": "f32", "fill": {"kind": "normal"}},
            {"name": "b", "shape": [2], "dtype": "f32", "fill": {"kind": "zeros"}}],
  "forward": [{"op": "mm", "in": ["x", "w"], "out": "p"},
              {"op": "add", "in": ["p", "b"], "alpha": 1.5, "out": "y"},
              {"op": "mse_loss", "in": ["y", "t"], "out": "loss"}],
  "loss": "loss", "optimizer": {"kind": "sgd", "lr": "lr"}, "outputs": ["loss"]})";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string key_of(const std::string& text, const DimOverrides& dims = {}) {
  return workload_key(parse_workload(text, "test.json", dims).step);
}

std::string base_key() { return key_of(std::string(kBase)); }

std::string key_with(std::string_view from, std::string_view to) {
  return key_of(replaced(std::string(kBase), from, to));
}

TEST(WorkloadKey, DoesNotChangeFromVersionToVersion) {
  EXPECT_EQ(base_key(), "eae5895ae01f20a7e65d21fb3c9f1c9e727e517619e9c98da38d835359eaef7e");
}

TEST(WorkloadKey, DoesNotDependOnNames) {
  std::string text(kBase);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {R"("name": "base")", R"("name": "other")"},
           {R"("name": "x")", R"("name": "blockIdx")"},
           {R"(["x", "w"], "out": "p")", R"(["blockIdx", "new"], "out": "x*/")"},
           {R"("name": "w")", R"("name": "new")"},
           {R"(["p", "b"])", R"(["x*/", "b"])"},
           {R"("name": "lr")", R"("name": "rate")"},
           {R"("lr": "lr")", R"("lr": "rate")"},
       }) {
    text = replaced(text, from, to);
  }
  EXPECT_EQ(key_of(text), base_key());
}

TEST(WorkloadKey, DoesNotDependOnValuesAndCounts) {
  EXPECT_EQ(key_with(R"("value": 0.001)", R"("value": 0.5)"), base_key());
  EXPECT_EQ(key_with(R"({"kind": "zeros"})", R"({"kind": "ones"})"), base_key());
  EXPECT_EQ(key_with(R"("outputs")", R"("batches": 7, "outputs")"), base_key());
  EXPECT_EQ(key_with(R"("outputs")", R"("about": "x", "outputs")"), base_key());
  EXPECT_EQ(
      key_with(R"("outputs")", R"("validation": {"steps": 5, "seeds": [1]}, "outputs")"), base_key()
  );
}

TEST(WorkloadKey, DoesNotDependOnTheOrderOfJsonKeys) {
  EXPECT_EQ(
      key_with(
          R"({"op": "mm", "in": ["x", "w"], "out": "p"})",
          R"({"out": "p", "in": ["x", "w"], "op": "mm"})"
      ),
      base_key()
  );
}

TEST(WorkloadKey, DoesNotDependOnNamedDimensionsOrTheSpellingOfDefaults) {
  EXPECT_EQ(key_with(R"("shape": ["n", 3])", R"("shape": [4, 3])"), base_key());
  EXPECT_EQ(
      key_with(R"("shape": ["n", 3])", R"("strides": [3, 1], "alignment": 16, "shape": ["n", 3])"),
      base_key()
  );
  EXPECT_EQ(key_with(R"("shape": ["n", 2])", R"("stable": false, "shape": ["n", 2])"), base_key());
}

TEST(WorkloadKey, DoesNotDependOnTheOrderOfIndependentOps) {
  const std::string first = R"({"schema": "whet.workload/1", "name": "t",
    "inputs": [{"name": "x", "shape": [4], "dtype": "f32", "fill": {"kind": "normal"}}], "body": [)";
  const std::string neg = R"({"op": "neg", "in": ["x"], "out": "a"})";
  const std::string relu = R"({"op": "relu", "in": ["x"], "out": "b"})";
  const std::string last = R"({"op": "sub", "in": ["a", "b"], "out": "y"}], "outputs": ["y"]})";
  const std::string key = key_of(first + neg + "," + relu + "," + last);
  EXPECT_EQ(key_of(first + relu + "," + neg + "," + last), key);
  const std::string swapped = R"({"op": "sub", "in": ["b", "a"], "out": "y"}], "outputs": ["y"]})";
  EXPECT_NE(key_of(first + neg + "," + relu + "," + swapped), key) << "operands have an order";
}

TEST(WorkloadKey, DoesNotDependOnOpsThatNothingNeedsOrOnCopiesOfAnOp) {
  EXPECT_EQ(
      key_with(R"("forward": [)", R"("forward": [{"op": "neg", "in": ["x"], "out": "dead"}, )"),
      base_key()
  );
  const std::string text = replaced(
      replaced(
          std::string(kBase),
          R"("forward": [)",
          R"("forward": [{"op": "neg", "in": ["x"], "out": "n1"},
            {"op": "neg", "in": ["x"], "out": "n2"}, )"
      ),
      R"("outputs": ["loss"])",
      R"("outputs": ["loss", "n1"])"
  );
  EXPECT_EQ(key_of(replaced(text, R"(["loss", "n1"])", R"(["loss", "n2"])")), key_of(text));
}

TEST(WorkloadKey, DependsOnShapesDtypesAndStrides) {
  EXPECT_NE(key_of(std::string(kBase), {{"n", 5}}), base_key());
  EXPECT_NE(
      key_with(R"("shape": ["n", 3])", R"("strides": [4, 1], "shape": ["n", 3])"), base_key()
  );
  const std::string cast = replaced(
      replaced(
          std::string(kBase),
          R"("shape": ["n", 2], "dtype": "f32")",
          R"("shape": ["n", 2], "dtype": "f16")"
      ),
      R"({"op": "mse_loss", "in": ["y", "t"])",
      R"({"op": "cast", "in": ["t"], "dtype": "f32", "out": "t32"}, {"op": "mse_loss", "in": ["y", "t32"])"
  );
  EXPECT_NE(key_of(cast), base_key());
  EXPECT_NE(key_of(replaced(cast, R"("dtype": "f16")", R"("dtype": "bf16")")), key_of(cast));
}

TEST(WorkloadKey, DependsOnPromisesAboutInputs) {
  EXPECT_NE(key_with(R"(, "stable": true)", ""), base_key());
  EXPECT_NE(key_with(R"("stable": true)", R"("stable": true, "alignment": 4)"), base_key());
}

TEST(WorkloadKey, DependsOnAttributesAndOps) {
  EXPECT_NE(key_with(R"("alpha": 1.5)", R"("alpha": 1.5000000000000002)"), base_key());
  EXPECT_NE(key_with(R"("op": "add")", R"("op": "sub")"), base_key());
}

TEST(WorkloadKey, DependsOnTheInterface) {
  const auto with_outputs = [](std::string_view outputs) {
    return key_with(R"("outputs": ["loss"])", outputs);
  };
  EXPECT_NE(with_outputs(R"("outputs": ["loss", "y"])"), base_key());
  EXPECT_NE(with_outputs(R"("outputs": ["y"])"), base_key());
  EXPECT_NE(
      with_outputs(R"("outputs": ["y", "loss"])"), with_outputs(R"("outputs": ["loss", "y"])")
  );
  EXPECT_NE(
      key_with(R"("scalars": [)", R"("scalars": [{"name": "s", "dtype": "i64", "value": 1}, )"),
      base_key()
  );
}

TEST(WorkloadKey, DependsOnWhichValueIsTheLoss) {
  const std::string body = R"({"schema": "whet.workload/1", "name": "t",
    "inputs": [{"name": "x", "shape": [], "dtype": "f32", "fill": {"kind": "normal"}}],
    "body": [{"op": "neg", "in": ["x"], "out": "y"}], "outputs": ["y"]})";
  EXPECT_NE(key_of(replaced(body, R"("outputs")", R"("loss": "y", "outputs")")), key_of(body));
}

TEST(WorkloadKey, DoesNotDependOnTheLocale) {
  const std::string key = base_key();
  const std::string before = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) {
    GTEST_SKIP() << "the system has no de_DE.UTF-8";
  }
  const std::string german = base_key();
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(german, key);
}

TEST(Canonical, IsReachedInOneStep) {
  const Workload workload = parse_workload(std::string(kBase), "test.json");
  EXPECT_EQ(canonical(workload.step), workload.step);
}

TEST(Canonical, GivesFilesWithOneDataflowOneProgram) {
  const std::string before = R"({"op": "mm", "in": ["x", "w"], "out": "p"})";
  const std::string text = replaced(
      std::string(kBase), before, R"({"op": "neg", "in": ["t"], "out": "dead"}, )" + before
  );
  EXPECT_EQ(
      parse_workload(text, "test.json").step, parse_workload(std::string(kBase), "test.json").step
  );
}

TEST(Canonical, LongChainsOfOpsDoNotExhaustTheStack) {
  Program program;
  program.values.push_back({.name = "x", .shape = {}, .strides = {}});
  program.inputs.push_back({.value = 0});
  ValueId last = 0;
  for (int i = 0; i < 100'000; ++i) {
    last = append_op(program, OpKind::Neg, {last}, {}, "n");
  }
  program.outputs.push_back(last);
  EXPECT_EQ(canonical(program).ops.size(), 100'000u);
}

}  // namespace
}  // namespace whet
