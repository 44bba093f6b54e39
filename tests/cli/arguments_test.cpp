// What whet answers to arguments and files that it cannot use: exit code and message.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/whet_program.hpp"

namespace whet {
namespace {

constexpr int kUserError = 2;
constexpr int kEnvironment = 3;

struct Refusal {
  std::string name;
  std::vector<std::string> arguments;
  int exit_code;
  std::vector<std::string> says;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class Arguments : public testing::TestWithParam<Refusal> {};

TEST_P(Arguments, AreRefusedWithTheWayOut) {
  const Refusal& refusal = GetParam();
  const WhetProgram whet;

  const ProcessResult result = whet.run(refusal.arguments);

  EXPECT_EQ(result.exit.code, refusal.exit_code) << result.error_output;
  EXPECT_EQ(result.output, "");
  for (const std::string& part : refusal.says) {
    EXPECT_TRUE(says(result.error_output, part));
  }
}

const std::string kOnline = WhetProgram::workload("online.json");

INSTANTIATE_TEST_SUITE_P(
    Cli,
    Arguments,
    testing::Values(
        Refusal{"NoSubcommand", {}, kUserError, {"subcommand"}},
        Refusal{"Subcommand", {"evalute", kOnline}, kUserError, {"'evalute'", "\"evaluate\""}},
        Refusal{
            "Flag",
            {"show", kOnline, "--sorce"},
            kUserError,
            {"unknown flag '--sorce'", "\"--source\""}},
        Refusal{
            "FlagWithValue",
            {"show", kOnline, "--targt=cpu"},
            kUserError,
            {"'--targt'", "\"--target\""}},
        Refusal{"Workload", {"show"}, kUserError, {"workload"}},
        Refusal{"TwoWhats", {"show", kOnline, "--space", "--source"}, kUserError, {"--space"}},
        Refusal{
            "TimelineExtension",
            {"evaluate", kOnline, "--timeline", "trace.txt"},
            kUserError,
            {"trace.txt", ".json", ".svg", "found \".txt\""}},
        Refusal{
            "TimelineFolder",
            {"evaluate", kOnline, "--timeline", "/dev/null/trace.json"},
            kUserError,
            {"/dev/null/trace.json", "/dev/null: it is not a folder"}},
        Refusal{
            "TimelineWithoutRunning",
            {"evaluate", kOnline, "--compile-only", "--timeline", "trace.json"},
            kUserError,
            {"--timeline", "--compile-only"}},
        Refusal{"MissingFile", {"show", "/nowhere/w.json"}, kUserError, {"/nowhere/w.json"}},
        Refusal{
            "Target", {"show", kOnline, "--target", "gpu"}, kUserError, {"gpu", "cuda-emulated"}},
        Refusal{
            "Device",
            {"show", kOnline, "--device", "h300", "--source"},
            kUserError,
            {"h300", "h200"}},
        Refusal{
            "DeviceOnCpu",
            {"show", kOnline, "--target", "cpu", "--device", "h200"},
            kUserError,
            {"--device h200"}},
        Refusal{
            "CalibrateEmulated",
            {"doctor", "--calibrate", "--target", "cuda-emulated"},
            kUserError,
            {"--target cpu or cuda", "never timed"}},
        Refusal{
            "CalibrateNoGpu", {"doctor", "--calibrate", "--target", "cuda"}, kEnvironment, {"GPU"}},
        Refusal{"OutputAlone", {"doctor", "--output", "x"}, kUserError, {"--calibrate"}},
        Refusal{
            "Strategy",
            {"tune", kOnline, "--strategy", "genetic"},
            kUserError,
            {"model", "genetic"}},
        Refusal{
            "ModelWithoutCosts",
            {"tune", kOnline, "--strategy", "model"},
            kUserError,
            {"no costs for this device", "--calibrate", "--strategy random"}},
        Refusal{
            "RankingFormat",
            {"report", "--ranking", "--format", "csv"},
            kUserError,
            {"--ranking", "--format"}},
        Refusal{"DimForm", {"show", kOnline, "--dim", "hidden"}, kUserError, {"name=size"}},
        Refusal{"DimName", {"show", kOnline, "--dim", "hiden=96"}, kUserError, {"hiden", "hidden"}},
        Refusal{
            "Knob", {"evaluate", kOnline, "--set", "tile_x=8"}, kUserError, {"tile_x", "tile_m"}},
        Refusal{
            "KnobValue", {"evaluate", kOnline, "--set", "tile_m=7"}, kUserError, {"tile_m", "7"}},
        Refusal{
            "NoGpu",
            {"evaluate", kOnline, "--target", "cuda"},
            kEnvironment,
            {"--target cpu", "--compile-only"}},
        Refusal{
            "NoGpuForDescription",
            {"evaluate", kOnline, "--device", "h200"},
            kEnvironment,
            {"--compile-only"}}
    ),
    [](const testing::TestParamInfo<Refusal>& refusal) { return refusal.param.name; }
);

TEST(BadWorkload, NamesFileAndPlace) {
  const WhetProgram whet;
  const std::string file = whet.write("bad.json", R"({"schema": "whet.workload/1", "name": 3})");

  const ProcessResult result = whet.run({"show", file});

  EXPECT_EQ(result.exit.code, kUserError);
  EXPECT_TRUE(says(result.error_output, file));
  EXPECT_TRUE(says(result.error_output, "$.name"));
}

TEST(BadWorkload, NamesLineOfBrokenJson) {
  const WhetProgram whet;
  const std::string file = whet.write("broken.json", "{\"schema\":\n  oops}");

  const ProcessResult result = whet.run({"show", file});

  EXPECT_EQ(result.exit.code, kUserError);
  EXPECT_TRUE(says(result.error_output, "broken.json"));
  EXPECT_TRUE(says(result.error_output, "line 2"));
}

TEST(BadWorkload, SurvivesAMillionBrackets) {
  const WhetProgram whet;
  const std::string file = whet.write("deep.json", std::string(1'000'000, '['));

  EXPECT_EQ(whet.run({"show", file}).exit.code, kUserError);
}

}  // namespace
}  // namespace whet
