// What the built program makes of report files, the published ones first of all.

#include <gtest/gtest.h>

#include <string>

#include "base/json.hpp"
#include "cli/whet_program.hpp"

namespace whet {
namespace {

const std::string kPublished = WHET_SOURCE_DIR "/results/cpu/seeds_f32.json";

TEST(ReportFrom, ShowsAFileAsItDoesADatabase) {
  const WhetProgram whet;
  const ProcessResult all = whet.run({"report", "--from", kPublished, "--format", "csv"});
  EXPECT_EQ(all.exit.code, 0) << all.error_output;
  EXPECT_TRUE(says(all.output, "small-f32,"));

  const ProcessResult knobs =
      whet.run({"report", "--from", kPublished, "--knobs", "--format", "json"});
  EXPECT_EQ(Json::parse(knobs.output)["entries"].size(), 5U);

  const ProcessResult none =
      whet.run({"report", "online", "--from", kPublished, "--format", "csv"});
  EXPECT_EQ(none.exit.code, 1) << none.output;
}

TEST(ReplayFiles, DecidesAgainAndExitsWithOneWhereADecisionDoesNotFollow) {
  const WhetProgram whet;
  const ProcessResult same = whet.run({"replay", kPublished});
  EXPECT_EQ(same.exit.code, 0) << same.output;
  EXPECT_TRUE(says(same.output, "5 of 5 as decided"));

  Json document = Json::parse(read_file(kPublished));
  document["entries"][0]["verdict"] = "KeepBaseline";
  const std::string altered = whet.write("altered.json", document.dump());
  const ProcessResult other = whet.run({"replay", altered, "--json"});
  EXPECT_EQ(other.exit.code, 1);
  EXPECT_EQ(Json::parse(other.output)["entries"][0]["differences"].size(), 1U) << other.output;
}

TEST(ReplayFiles, NamesTheFileThatIsNoReport) {
  const WhetProgram whet;
  const std::string file = whet.write("costs.json", R"({"schema": "whet.costs/1"})");
  for (const auto& command :
       {std::vector<std::string>{"replay", file}, {"report", "--from", file}}) {
    const ProcessResult result = whet.run(command);
    EXPECT_EQ(result.exit.code, 2);
    EXPECT_TRUE(says(result.error_output, "costs.json: schema: expected whet.report/1"));
  }
}

TEST(ReplayStore, SaysThatThereIsNoDatabaseYet) {
  const WhetProgram whet;
  const ProcessResult result = whet.run({"replay"});
  EXPECT_EQ(result.exit.code, 3);
  EXPECT_TRUE(says(result.error_output, "records.db"));
}

TEST(Noise, RefusesWhatIsNeverTimedAndAnOutputOfNothing) {
  const WhetProgram whet;
  const ProcessResult emulated = whet.run({"doctor", "--noise", "--target", "cuda-emulated"});
  EXPECT_EQ(emulated.exit.code, 2);
  EXPECT_TRUE(says(emulated.error_output, "--noise: expected --target cpu or cuda"));
  EXPECT_EQ(whet.run({"doctor", "--output", "x.json"}).exit.code, 2);
  EXPECT_EQ(whet.run({"doctor", "--noise", "--calibrate"}).exit.code, 2);
  EXPECT_EQ(whet.run({"doctor", "--copies", "3"}).exit.code, 2);
}

}  // namespace
}  // namespace whet
