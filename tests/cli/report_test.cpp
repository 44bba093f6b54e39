#include <gtest/gtest.h>

#include "base/error.hpp"
#include "report/format.hpp"
#include "report/read_report.hpp"
#include "report/session_report.hpp"
#include "report/tables.hpp"

namespace whet {
namespace {

SessionReport example() {
  SessionReport report;
  report.workload = "on|line";
  report.target = "cpu";
  report.device = "a CPU, 2 threads";
  report.decision.verdict = Verdict::Use;
  report.decision.winner = Configuration{{{"blocks", "2"}}};
  report.decision.time_ns = TimeSummary{.median = 5000, .low = 4900, .high = 5100};
  report.decision.baselines = {
      {.name = "libtorch-eager", .time_ns = {.median = 50000, .low = 49000, .high = 51000}}};
  report.decision.detail["peer_samples"] = {1.0, 2.0};
  Evaluation valid;
  valid.configuration = *report.decision.winner;
  valid.blocks = {
      {.process = 0,
       .block = 0,
       .num_steps = 1,
       .purpose = "screen",
       .samples = {{.time_ns = 5000}}}};
  Evaluation refused;
  refused.status = Status::ConstraintViolated;
  refused.detail = "shared_memory: needs 3, has \"2\"";
  report.evaluations = {valid, refused};
  return report;
}

TEST(FormatTime, KeepsThreeDigitsAcrossUnits) {
  EXPECT_EQ(format_time(845.2), "845 ns");
  EXPECT_EQ(format_time(999.6), "1.00 µs");
  EXPECT_EQ(format_time(1620), "1.62 µs");
  EXPECT_EQ(format_time(31.04e6), "31.0 ms");
}

TEST(FormatSpeedup, IsWithheldWhenProcessesDisagree) {
  const TimeSummary steady{.median = 10, .low = 9.9, .high = 10.1};
  const TimeSummary wild{.median = 11000, .low = 7000, .high = 21000};

  EXPECT_EQ(format_speedup({.median = 20, .low = 19.9, .high = 20.1}, steady), "2.00 x");
  EXPECT_EQ(format_speedup(wild, steady), "unsteady");
  EXPECT_EQ(format_speedup(steady, wild), "unsteady");
}

TEST(ReadReport, ReadsWhatAReportHolds) {
  SessionReport report = example();
  report.decision.tie_set = {*report.decision.winner};
  report.evaluations.front().source_sha256 = "ab";

  const auto read = read_report(report_document("r", {report, report}, Samples::Kept), "r.json");

  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].workload, report.workload);
  EXPECT_EQ(read[1].decision, report.decision);
  EXPECT_EQ(read[1].evaluations, report.evaluations);
}

/// What read_report says of a document that it refuses.
std::string refusal(const Json& document) {
  try {
    read_report(document, "r.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ReadReport, NamesFileEntryAndFieldOfWhatItRefuses) {
  EXPECT_NE(
      refusal({{"schema", "x"}}).find("r.json: schema: expected whet.report/1"), std::string::npos
  );
  EXPECT_NE(refusal(Json::array()).find("r.json: schema"), std::string::npos);
  Json document = report_document("r", {example(), example()}, Samples::Kept);
  document["entries"][1]["evaluations"][0].erase("status");
  const std::string message = refusal(document);
  EXPECT_NE(message.find("r.json: entry 1: "), std::string::npos) << message;
  EXPECT_NE(message.find("status"), std::string::npos) << message;
  const Json left = result_document(example(), Samples::Left);
  EXPECT_NE(refusal(left).find("entry 0: "), std::string::npos);
}

TEST(ResultDocument, LeavesRawSamplesToReportFiles) {
  const Json left = result_document(example(), Samples::Left);
  const Json kept = result_document(example(), Samples::Kept);

  EXPECT_FALSE(left.contains("evaluations"));
  EXPECT_FALSE(left["decision"].contains("peer_samples"));
  EXPECT_EQ(kept["evaluations"].size(), 2U);
  EXPECT_TRUE(kept["decision"].contains("peer_samples"));
}

TEST(ResultDocument, HasNoWinnerWithoutAValidCandidate) {
  SessionReport report = example();
  report.decision = {};

  EXPECT_FALSE(result_document(report, Samples::Left).contains("winner"));
}

TEST(Csv, QuotesWhatAReaderWouldSplit) {
  const std::string csv = to_csv({example()});

  EXPECT_NE(csv.find("\"shared_memory: needs 3, has \"\"2\"\"\""), std::string::npos) << csv;
}

TEST(Reports, ShowTheLimitAndTheRatioToIt) {
  SessionReport report = example();
  EXPECT_NE(result_table(report).find("no costs for this device"), std::string::npos);
  EXPECT_FALSE(result_document(report, Samples::Left)["winner"].contains("limit_ns"));

  report.limits_ns[1] = 1250.0;

  EXPECT_NE(result_table(report).find("1.25 µs, measured / limit 4.0"), std::string::npos);
  EXPECT_EQ(result_document(report, Samples::Left)["winner"]["limit_ns"], 1250.0);
  EXPECT_EQ(result_document(report, Samples::Left)["winner"]["measured_per_limit"], 4.0);
  EXPECT_NE(to_csv({report}).find("Ok,5000,1,1250,4,blocks=2"), std::string::npos)
      << to_csv({report});
  EXPECT_NE(to_markdown("t", {report}).find("| 1.25 µs | 4.0 |"), std::string::npos);
}

TEST(Reports, LimitOfOtherLaunchesIsNotTheWinners) {
  SessionReport report = example();
  report.limits_ns[4] = 1250.0;
  EXPECT_EQ(winner_limit_ns(report), std::nullopt);
  EXPECT_EQ(limit_ns(report, {{{"steps_per_launch", "4"}}}), 1250.0);
}

TEST(Markdown, EscapesCells) {
  EXPECT_NE(to_markdown("t", {example()}).find("| on\\|line |"), std::string::npos);
}

TEST(ResultTable, SaysThatProcessesDisagree) {
  SessionReport report = example();
  EXPECT_EQ(result_table(report).find("unsteady"), std::string::npos);

  report.decision.baselines[0].time_ns.high = 90000;

  EXPECT_NE(result_table(report).find("measure again"), std::string::npos);
}

}  // namespace
}  // namespace whet
