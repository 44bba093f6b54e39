// `whet evaluate --timeline` with real kernels.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "cli/whet_program.hpp"

namespace whet {
namespace {

constexpr std::chrono::minutes kTimeout{10};

class Evaluate : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(WHET_BIN_DIR "/whet-reference")) {
      GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
    }
  }

  ProcessResult evaluate(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"evaluate", WhetProgram::workload("online.json")});
    return whet_.run(arguments, kTimeout);
  }

  const WhetProgram whet_;
};

TEST_F(Evaluate, WritesTheTimelineOfTheCpuTargetAsTraceAndPicture) {
  const std::string trace_file = whet_.home() + "/new/trace.json";
  const std::string picture_file = whet_.home() + "/picture.svg";

  const ProcessResult result = evaluate(
      {"--target", "cpu", "--threads", "1", "--timeline", trace_file, "--timeline", picture_file}
  );

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  EXPECT_TRUE(says(result.output, "the stamps cost a little: "));
  EXPECT_TRUE(says(result.output, "% launch\n"));
  const Json trace = Json::parse(read_file(trace_file));
  EXPECT_EQ(trace.at("otherData").at("schema"), "whet.timeline/1");
  EXPECT_GT(trace.at("traceEvents").size(), 4U);
  EXPECT_TRUE(read_file(picture_file).ends_with("</svg>\n"));
}

TEST_F(Evaluate, PutsTheTimelineIntoItsDocument) {
  const std::string file = whet_.home() + "/trace.json";

  const ProcessResult result =
      evaluate({"--target", "cpu", "--threads", "1", "--json", "--timeline", file});

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  const Json timeline = Json::parse(result.output).at("timeline");
  EXPECT_EQ(timeline.at("files"), Json::array({file}));
  EXPECT_EQ(timeline.at("blocks"), 1);
  EXPECT_GT(timeline.at("total_ns").get<double>(), 0.0);
  EXPECT_GT(timeline.at("step_time_ns").get<double>(), 0.0);
  double end_ns = 0.0;
  for (const Json& phase : timeline.at("phases")) {
    EXPECT_FALSE(phase.at("tasks").empty());
    EXPECT_LE(end_ns, phase.at("begin_ns").get<double>());
    end_ns = phase.at("end_ns").get<double>();
  }
  EXPECT_NEAR(
      timeline.at("work_share").get<double>() + timeline.at("wait_share").get<double>() +
          timeline.at("launch_share").get<double>(),
      1.0,
      1e-9
  );
}

TEST_F(Evaluate, TakesTheTimelineOfTheEmulationInStampsAndNotInTime) {
  const ProcessResult result = evaluate(
      {"--target",
       "cuda-emulated",
       "--set",
       "partition=grid blocks=2",
       "--timeline",
       whet_.home() + "/trace.json"}
  );

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  EXPECT_TRUE(says(result.output, "the emulation has no time"));
  EXPECT_FALSE(says(result.output, "the stamps cost a little"));
}

}  // namespace
}  // namespace whet
