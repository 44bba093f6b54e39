// The whole path by the built programs: tune in one process, find the winner in another.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "cli/whet_program.hpp"

namespace whet {
namespace {

constexpr std::chrono::minutes kTuning{15};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

class Tuned : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(WHET_BIN_DIR "/whet-reference")) {
      GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
    }
    const ProcessResult result =
        whet_.run({"tune", online_, "--target", "cpu", "--budget", "6", "--json"}, kTuning);
    ASSERT_EQ(result.exit.code, 0) << result.error_output;
    document_ = Json::parse(result.output);
  }

  /// The grade of `best`, whose exit code must agree with it.
  std::string match(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{"best", "--target", "cpu", "--json"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProcessResult result = whet_.run(command);
    const Json document = Json::parse(result.output);
    EXPECT_EQ(result.exit.code, document["match"] == "Exact" ? 0 : 1) << result.error_output;
    return document["match"].get<std::string>();
  }

  /// online.json with a text replaced, as a file of the home.
  std::string variant(const std::string& from, const std::string& to) const {
    const std::string text = replaced(read_file(online_), from, to);
    EXPECT_NE(text, read_file(online_)) << "nothing to replace: " << from;
    return whet_.write("variant.json", text);
  }

  const WhetProgram whet_;
  const std::string online_ = WhetProgram::workload("online.json");
  Json document_;
};

// One fixture tunes once: all that is asked of one store stands in one test.
TEST_F(Tuned, IsFoundByAnotherProcessForTheSameStepOnly) {
  EXPECT_EQ(document_["schema"], "whet.result/1");
  EXPECT_TRUE(document_.contains("winner"));
  EXPECT_TRUE(std::filesystem::exists(whet_.home() + "/whet-report/online.md"));
  EXPECT_TRUE(std::filesystem::exists(whet_.home() + "/whet-report/online.html"));

  EXPECT_EQ(match({online_}), "Exact");
  EXPECT_NE(match({online_, "--dim", "hidden=96"}), "Exact");
  EXPECT_EQ(match({variant("\"value\": 0.001", "\"value\": 0.5")}), "Exact");
  EXPECT_EQ(match({variant("\"w1\"", "\"first_weight\"")}), "Exact");

  EXPECT_EQ(whet_.run({"db", "check"}).exit.code, 0);
  // No costs of a host are shipped.
  const ProcessResult ranking = whet_.run({"report", "--ranking"});
  EXPECT_EQ(ranking.exit.code, 0);
  EXPECT_TRUE(says(ranking.output, "whet doctor --calibrate"));
  const ProcessResult csv = whet_.run({"report", "--format", "csv"});
  EXPECT_TRUE(says(csv.output, "online,"));
}

// Ctrl-C at the first line that shows a finished candidate, then more budget.
TEST(Tune, SavesWhatWasFinishedWhenInterruptedAndGoesOnFromThere) {
  if (!std::filesystem::exists(WHET_BIN_DIR "/whet-reference")) {
    GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
  }
  const WhetProgram whet;
  const std::vector<std::string> tune{
      "tune", WhetProgram::workload("online.json"), "--target", "cpu", "--seed", "5", "--json"};

  const int interrupted = whet.interrupt_once_it_says(tune, "best", kTuning);
  std::vector<std::string> more = tune;
  more.insert(more.end(), {"--resume", "--budget", "4"});
  const ProcessResult resumed = whet.run(more, kTuning);
  const Json check = Json::parse(whet.run({"db", "check", "--json"}).output);

  EXPECT_EQ(interrupted, 130);
  EXPECT_EQ(resumed.exit.code, 0) << resumed.error_output;
  EXPECT_TRUE(says(resumed.error_output, "going on with the session"));
  EXPECT_EQ(check["sessions"], 1);
  EXPECT_EQ(check["problems"].size(), 0U);
}

// The untuned candidate of each alone: that the reference, the compiler and the worker take them.
TEST(Suite, FindsAValidCandidateForEveryOtherProgram) {
  if (!std::filesystem::exists(WHET_BIN_DIR "/whet-reference")) {
    GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
  }
  const WhetProgram whet;

  const ProcessResult result = whet.run(
      {"suite",
       WhetProgram::workload("programs.json"),
       "--target",
       "cpu",
       "--budget",
       "1",
       "--json"},
      kTuning
  );

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  const Json document = Json::parse(result.output);
  EXPECT_EQ(document["entries"].size(), 8U);
  for (const Json& entry : document["entries"]) {
    EXPECT_EQ(entry["counts"], (Json{{"Ok", 1}})) << entry["workload"];
  }
}

TEST(Best, SaysThatNothingWasTunedYet) {
  const WhetProgram whet;

  const ProcessResult result = whet.run({"best", WhetProgram::workload("online.json")});

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_TRUE(says(result.output, "nothing was tuned yet"));
}

TEST(Tune, RefusesABadBudgetBeforeItMakesADatabase) {
  const WhetProgram whet;

  const ProcessResult result =
      whet.run({"tune", WhetProgram::workload("online.json"), "--budget", "soon"});

  EXPECT_EQ(result.exit.code, 2);
  EXPECT_TRUE(says(result.error_output, "soon"));
  EXPECT_FALSE(std::filesystem::exists(whet.home() + "/data"));
}

}  // namespace
}  // namespace whet
