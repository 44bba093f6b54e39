// `whet retime`, and scripts/peers.py with it: real kernels, and a peer that is made up.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/whet_program.hpp"

namespace whet {
namespace {

constexpr std::chrono::minutes kTimeout{10};

class Retime : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(WHET_BIN_DIR "/whet-reference")) {
      GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
    }
  }

  /// The answers to `input`, and how it ended.
  ProcessResult retime(
      const std::vector<std::string>& arguments, const std::string& input, std::vector<Json>& lines
  ) const {
    std::vector<std::string> command{"retime", online_, "--target", "cpu", "--threads", "1"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    ProcessResult result = whet_.run(command, kTimeout, input);
    std::istringstream output(result.output);
    for (std::string line; std::getline(output, line);) {
      lines.push_back(Json::parse(line));
    }
    return result;
  }

  const WhetProgram whet_;
  const std::string online_ = WhetProgram::workload("online.json");
};

TEST_F(Retime, AnswersEachNameWithABlockOfSamples) {
  std::vector<Json> lines;

  const ProcessResult result = retime(
      {"--configuration", "steps_per_launch=1", "--configuration", "steps_per_launch=4"},
      "given-1\ngiven-2\ngiven-1\n",
      lines
  );

  EXPECT_EQ(result.exit.code, 0) << result.error_output;
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["schema"], "whet.blocks/1");
  ASSERT_EQ(lines[0]["subjects"].size(), 2U);
  EXPECT_EQ(lines[0]["subjects"][0]["status"], "Ok");
  EXPECT_EQ(lines[0]["subjects"][1]["steps_per_launch"], 4);
  EXPECT_EQ(lines[2]["subject"], "given-2");
  EXPECT_EQ(lines[3]["samples"].size(), lines[0]["plan"]["num_samples"].get<std::size_t>());
  EXPECT_GT(lines[3]["samples"][0][0].get<double>(), 0.0);
}

TEST_F(Retime, RefusesANameThatThereIsNot) {
  std::vector<Json> lines;

  const ProcessResult result = retime({"--configuration", "steps_per_launch=1"}, "winner\n", lines);

  EXPECT_EQ(result.exit.code, 2);
  EXPECT_TRUE(says(result.error_output, "(given-1), found 'winner'"));
}

TEST_F(Retime, SaysThatNothingIsStored) {
  std::vector<Json> lines;

  const ProcessResult result = retime({}, "", lines);

  EXPECT_EQ(result.exit.code, 1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["subjects"].size(), 0U);
  EXPECT_TRUE(says(lines[0]["reason"].get<std::string>(), "nothing was tuned yet"));
}

// The stored winner and, where that does several steps a launch, the best that does one.
TEST_F(Retime, FindsWhatWasTuned) {
  const ProcessResult tuned = whet_.run(
      {"tune", online_, "--target", "cpu", "--threads", "1", "--budget", "6", "--json"}, kTimeout
  );
  ASSERT_EQ(tuned.exit.code, 0) << tuned.error_output;
  const Json winner = Json::parse(tuned.output)["winner"];
  std::vector<Json> lines;

  const ProcessResult result = retime({}, "winner\n", lines);

  EXPECT_EQ(result.exit.code, 0) << result.error_output;
  const Json subjects = lines.at(0)["subjects"];
  EXPECT_EQ(subjects[0]["configuration"], winner["configuration"]);
  EXPECT_EQ(subjects.back()["steps_per_launch"], 1);
  EXPECT_EQ(lines.at(1)["status"], "Ok");
}

}  // namespace
}  // namespace whet
