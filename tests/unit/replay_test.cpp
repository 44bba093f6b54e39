#include "tuner/replay.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files.hpp"
#include "base/json_parse.hpp"
#include "report/read_report.hpp"

namespace whet {
namespace {

const std::filesystem::path kResults = std::filesystem::path(WHET_SOURCE_DIR) / "results";

std::vector<SessionReport> published(const std::string& file) {
  return read_report(parse_json(read_file(kResults / file), file), file);
}

class PublishedDecisions : public ::testing::TestWithParam<const char*> {};

TEST_P(PublishedDecisions, FollowFromTheirSamples) {
  const auto reports = published(GetParam());
  EXPECT_GE(reports.size(), 5U);
  for (const SessionReport& report : reports) {
    EXPECT_EQ(
        differences(report.decision, replay(report.evaluations, report.decision)),
        std::vector<std::string>{}
    ) << report.workload;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Results,
    PublishedDecisions,
    ::testing::Values(
        "h200/seeds.json", "h200/seeds_128caa7.json", "cpu/seeds.json", "cpu/seeds_f32.json"
    )
);

TEST(Replay, SaysInWhatADecisionDoesNotFollow) {
  SessionReport report = published("cpu/seeds_f32.json").front();
  ASSERT_EQ(report.decision.verdict, Verdict::Use);
  report.decision.verdict = Verdict::KeepBaseline;
  report.decision.time_ns->median *= 0.5;

  const auto found = differences(report.decision, replay(report.evaluations, report.decision));

  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], "verdict: decided \"KeepBaseline\", replayed \"Use\"");
  EXPECT_EQ(found[1].rfind("winner: decided {", 0), 0U) << found[1];
}

TEST(Replay, NoticesASampleThatWasAltered) {
  SessionReport report = published("cpu/seeds_f32.json").front();
  for (Evaluation& evaluation : report.evaluations) {
    for (SampleBlock& block : evaluation.blocks) {
      if (evaluation.configuration == report.decision.winner && block.purpose == "publish") {
        for (Sample& sample : block.samples) {
          sample.time_ns *= 0.9;
        }
      }
    }
  }
  EXPECT_FALSE(differences(report.decision, replay(report.evaluations, report.decision)).empty());
}

TEST(Replay, HasNoValidWhereNothingWasMeasured) {
  EXPECT_EQ(replay({}, {}).verdict, Verdict::NoValid);
  EXPECT_TRUE(differences({}, replay({}, {})).empty());
}

}  // namespace
}  // namespace whet
