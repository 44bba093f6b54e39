#include "report/knob_report.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "report/knob_tables.hpp"
#include "report/stored_sessions.hpp"
#include "support/record_samples.hpp"

namespace whet {
namespace {

Evaluation candidate(
    const std::string& partition,
    const std::string& tile,
    double time_ns,
    Status status = Status::Ok
) {
  Evaluation evaluation;
  evaluation.configuration.values = {{"partition", partition}, {"tile_m", tile}};
  evaluation.status = status;
  if (status == Status::Ok) {
    evaluation.blocks = {
        {.process = 0,
         .block = 0,
         .num_steps = 20,
         .purpose = "screen",
         .samples = {{.time_ns = time_ns}}},
        // What finalists add must not count: others have none.
        {.process = 1,
         .block = 0,
         .num_steps = 20,
         .purpose = "final",
         .samples = {{.time_ns = 1}}}};
  }
  return evaluation;
}

/// Knobs of a store with one decided session, whose default is partition=block tile_m=64.
std::vector<KnobReport> stored_knobs() {
  const TemporaryFolder folder("whet-knobs-");
  RecordStore store = RecordStore::open(folder.path() / "r.db", RecordStore::Mode::ReadWrite);
  const SessionId session = store.begin_session(records::session_info());
  for (const Evaluation& evaluation :
       {candidate("block", "64", 2000),
        candidate("grid", "64", 1500),
        candidate("grid", "16", 1000),
        candidate("grid", "128", 1200),
        candidate("grid", "64", 1100),
        candidate("block", "128", 0, Status::CompileFailed),
        candidate("block", "16", 1800)}) {
    store.add_evaluation(session, evaluation);
  }
  store.add_decision(session, records::decision(16));
  std::vector<KnobReport> reports;
  for (const SessionReport& report : stored_sessions(store, {})) {
    reports.push_back(knob_report(report));
  }
  return reports;
}

TEST(KnobReport, GivesTheBestOfEachValueAndWhatTheDefaultCosts) {
  const std::vector<KnobReport> reports = stored_knobs();

  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].num_ok, 6);
  EXPECT_EQ(reports[0].best_ns, 1000.0);
  ASSERT_EQ(reports[0].knobs.size(), 2U);
  EXPECT_EQ(
      reports[0].knobs[1],
      (KnobSummary{
          .knob = "tile_m",
          .default_value = "64",
          .values = {{"16", 2, {}}, {"64", 3, 1100.0}, {"128", 1, {}}},
          .default_cost = 1100.0 / 1000.0 - 1.0})
  );
}

TEST(KnobReport, ShowsTooFewCandidatesAsSuch) {
  const std::vector<KnobReport> reports = stored_knobs();

  EXPECT_EQ(
      reports.at(0).knobs.at(0),
      (KnobSummary{
          .knob = "partition",
          .default_value = "block",
          .values = {{"block", 2, {}}, {"grid", 4, 1000.0}},
          .default_cost = {}})
  );
  const std::string text = knobs_text(reports);
  EXPECT_NE(
      text.find("partition          block (default)          2  too few (2)    too few (2)\n"),
      std::string::npos
  ) << text;
  EXPECT_NE(
      text.find("tile_m             64 (default)             3  1.10 µs        +10.0 %\n"),
      std::string::npos
  ) << text;
}

TEST(KnobReport, SaysTheSameInEveryFormat) {
  const std::vector<KnobReport> reports = stored_knobs();

  const Json document = knobs_document(reports);
  const std::string csv = knobs_csv(reports);

  EXPECT_EQ(document["schema"], "whet.knobs/1");
  const Json partition = document["entries"][0]["knobs"][0];
  EXPECT_FALSE(partition.contains("default_cost"));
  EXPECT_EQ(partition["values"][1], (Json{{"value", "grid"}, {"num_ok", 4}, {"best_ns", 1000.0}}));
  EXPECT_NE(csv.find(",partition,block,true,2,,\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",partition,grid,false,4,1000,\n"), std::string::npos) << csv;
  EXPECT_NE(
      knobs_markdown(reports).find("| tile_m | 64 (default) | 3 | 1.10 µs | +10.0 % |"),
      std::string::npos
  );
}

TEST(KnobReport, HasNothingToSayOfASessionWithoutCandidates) {
  const KnobReport report = knob_report({});

  EXPECT_EQ(report.best_ns, std::nullopt);
  EXPECT_TRUE(report.knobs.empty());
}

}  // namespace
}  // namespace whet
