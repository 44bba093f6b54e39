#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/whet_program.hpp"

namespace whet {
namespace {

std::string show(const WhetProgram& whet, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "show");
  const ProcessResult result = whet.run(arguments);
  EXPECT_EQ(result.exit.code, 0) << result.error_output;
  return result.output;
}

TEST(Show, PrintsTheSourceOfEachTarget) {
  const WhetProgram whet;
  const std::string online = WhetProgram::workload("online.json");

  const std::string cpu = show(whet, {online, "--source"});
  const std::string cuda = show(whet, {online, "--source", "--device", "h200"});

  EXPECT_TRUE(says(cpu, "whet_step"));
  EXPECT_TRUE(says(cuda, "__global__"));
  EXPECT_FALSE(says(cuda, "w1_low"));  // no name of the user reaches a compiler
}

TEST(Show, PrintsTheSameBytesEachTime) {
  const WhetProgram whet;
  const std::vector<std::string> arguments{
      WhetProgram::workload("online.json"), "--source", "--device", "a100"};

  EXPECT_EQ(show(whet, arguments), show(whet, arguments));
}

TEST(Show, RestrictsAGpuToWhatASmallerOneHas) {
  const WhetProgram whet;
  std::vector<std::string> arguments{
      WhetProgram::workload("online.json"), "--space", "--device", "h200"};
  EXPECT_TRUE(says(show(whet, arguments), "launch_overlap"));

  for (const char* flag : {"--feature-level=80", "--sms=108", "--shared-bytes=166912"}) {
    arguments.emplace_back(flag);
  }
  const std::string space = show(whet, arguments);

  EXPECT_FALSE(says(space, "launch_overlap"));  // came with sm_90
  EXPECT_TRUE(says(space, "108"));
  EXPECT_FALSE(says(space, "132"));
}

TEST(Show, RefusesARestrictionThatIsNone) {
  const WhetProgram whet;
  const std::string online = WhetProgram::workload("online.json");
  const auto refusal = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"show", online, "--space"});
    const ProcessResult result = whet.run(flags);
    EXPECT_EQ(result.exit.code, 2);
    return result.error_output;
  };
  EXPECT_TRUE(says(refusal({"--device", "a100", "--sms", "132"}), "expected 1 to 108"));
  EXPECT_TRUE(says(refusal({"--device", "h200", "--feature-level", "85"}), "80, 90 or 100"));
  EXPECT_TRUE(says(refusal({"--sms", "8"}), "not a choice with --target cpu"));
}

TEST(Show, ListsKnobsWithTheirValues) {
  const WhetProgram whet;

  const std::string space = show(whet, {WhetProgram::workload("online.json"), "--space"});

  EXPECT_TRUE(says(space, "partition = "));
  EXPECT_TRUE(says(space, "configurations"));
}

TEST(Show, ListsTheOpsOfTheWholeStep) {
  const WhetProgram whet;

  const std::string program = show(whet, {WhetProgram::workload("online.json"), "--program"});

  EXPECT_TRUE(says(program, "threshold_backward"));
}

TEST(Show, NamesThePathOfEachTaskOfASchedule) {
  const WhetProgram whet;
  const std::vector<std::string> shape{
      WhetProgram::workload("mlp.json"), "--schedule", "--dim", "batch=9", "--dim", "in=10"};
  std::vector<std::string> on_gpu = shape;
  on_gpu.insert(on_gpu.end(), {"--device", "h200", "--set", "partition=grid"});

  const std::string cuda = show(whet, on_gpu);

  EXPECT_TRUE(says(cuda, "mm, cast, add, relu: mma, operands direct: A one by one"));
  EXPECT_TRUE(says(cuda, "A: K = 10 is no multiple of 4: elements are fetched one by one"));
  EXPECT_TRUE(says(show(whet, shape), "mm, cast, add, relu: vectors, packed panels"));
}

TEST(Show, PredictsAScheduleForAGpuWhoseCostsAreKnown) {
  const WhetProgram whet;
  std::vector<std::string> arguments{
      WhetProgram::workload("mlp.json"), "--schedule", "--device", "a100"};
  const std::string unchanged = show(whet, arguments);
  arguments.insert(arguments.end(), {"--set", "partition=grid"});
  const std::string grid = show(whet, arguments);

  EXPECT_TRUE(says(unchanged, "predicted, ns a step"));
  EXPECT_TRUE(says(unchanged, "no schedule can beat "));
  const auto total = [](const std::string& text) {
    return std::stod(text.substr(text.find("  total ") + 8));
  };
  EXPECT_GT(total(grid), 0.0);
  EXPECT_NE(total(grid), total(unchanged));
}

TEST(Evaluate, NamesThePathOfEachTask) {
  const WhetProgram whet;
  const std::vector<std::string> text{
      "evaluate",
      WhetProgram::workload("layers3_f32.json"),
      "--target",
      "cuda-emulated",
      "--compile-only"};
  std::vector<std::string> json = text;
  json.emplace_back("--json");

  const ProcessResult table = whet.run(text);
  const Json document = Json::parse(whet.run(json).output);

  EXPECT_EQ(table.exit.code, 0) << table.error_output;
  EXPECT_TRUE(says(table.output, "mm, add, relu: simt, operands direct"));
  EXPECT_TRUE(says(table.output, "not mma: tensor cores multiply no f32"));
  const Json first = document["evaluation"]["paths"][0];
  EXPECT_EQ(first["task"], "mm1");
  EXPECT_EQ(first["ops"], "mm, add, relu");
  EXPECT_EQ(first["engine"], "simt");
  EXPECT_EQ(first["slower"].size(), 1U);
}

TEST(Show, FindsShippedWorkloadsByName) {
  const WhetProgram whet;

  EXPECT_EQ(
      show(whet, {"online", "--program"}),
      show(whet, {WhetProgram::workload("online.json"), "--program"})
  );
}

TEST(Help, NamesTheSubcommands) {
  const WhetProgram whet;

  const ProcessResult result = whet.run({"--help"});

  EXPECT_EQ(result.exit.code, 0);
  for (const char* name : {"show", "evaluate", "doctor"}) {
    EXPECT_TRUE(says(result.output, name));
  }
}

TEST(Doctor, SaysWhatIsThere) {
  const WhetProgram whet;

  const ProcessResult result = whet.run({"doctor", "--json"});

  for (const char* name : {"host compiler", "NVRTC", "CUDA driver", "whet-reference", "SQLite"}) {
    EXPECT_TRUE(says(result.output, name));
  }
}

}  // namespace
}  // namespace whet
