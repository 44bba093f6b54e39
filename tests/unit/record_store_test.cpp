#include "store/record_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "support/record_samples.hpp"

namespace whet {
namespace {

using Mode = RecordStore::Mode;

class RecordStoreTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "records.db"; }
  RecordStore open(Mode mode = Mode::ReadWrite) const { return RecordStore::open(path(), mode); }

 private:
  TemporaryFolder folder_{"whet-store-"};
};

TEST_F(RecordStoreTest, ReturnsASessionAsItWasBegun) {
  RecordStore store = open();
  const SessionId id = store.begin_session(records::session_info());
  const std::vector<SessionRecord> sessions = store.sessions();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].id, id);
  EXPECT_EQ(sessions[0].uid.size(), 32u);
  EXPECT_EQ(sessions[0].info, records::session_info());
  EXPECT_GT(sessions[0].started_ms, 1'600'000'000'000);
  EXPECT_EQ(sessions[0].num_evaluations, 0);
  EXPECT_FALSE(sessions[0].decided);
}

TEST_F(RecordStoreTest, ReturnsEvaluationsWithTheirSamplesInOrder) {
  RecordStore store = open();
  const SessionId session = store.begin_session(records::session_info());
  const Evaluation first = records::evaluation(32, 2100.0);
  Evaluation second = records::evaluation(64, 0.0);
  second.status = Status::CompileFailed;
  second.detail = "error: expected ';'";
  second.worst.reset();
  second.blocks.clear();
  store.add_evaluation(session, first);
  store.add_evaluation(session, second);
  const std::vector<EvaluationRecord> found = open(Mode::ReadOnly).evaluations(session);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].evaluation, first);
  EXPECT_EQ(found[1].evaluation, second);
}

TEST_F(RecordStoreTest, KeepsEvaluationsOfSessionsApart) {
  RecordStore store = open();
  const SessionId first = store.begin_session(records::session_info());
  const SessionId second = store.begin_session(records::session_info());
  store.add_evaluation(first, records::evaluation(32, 2100.0));
  EXPECT_EQ(store.evaluations(first).size(), 1u);
  EXPECT_TRUE(store.evaluations(second).empty());
}

TEST_F(RecordStoreTest, AppendsSamplesToAnEvaluation) {
  RecordStore store = open();
  const SessionId session = store.begin_session(records::session_info());
  Evaluation evaluation = records::evaluation(32, 2100.0);
  const EvaluationId id = store.add_evaluation(session, evaluation);
  SampleBlock block = records::sample_block(9, 1900.0);
  block.purpose = "publish";
  store.add_samples(id, {block});
  evaluation.blocks.push_back(block);
  EXPECT_EQ(store.evaluations(session).at(0).evaluation, evaluation);
}

TEST_F(RecordStoreTest, RefusesSamplesOfAnUnknownEvaluation) {
  RecordStore store = open();
  EXPECT_THROW(store.add_samples(7, {records::sample_block(0, 1.0)}), EnvironmentError);
}

TEST_F(RecordStoreTest, StoresNothingOfAnEvaluationWhoseTimeIsNotFinite) {
  RecordStore store = open();
  const SessionId session = store.begin_session(records::session_info());
  Evaluation evaluation = records::evaluation(32, 2100.0);
  evaluation.blocks[1].samples[0].time_ns = std::numeric_limits<double>::infinity();
  EXPECT_THROW(store.add_evaluation(session, evaluation), InternalError);
  EXPECT_TRUE(store.evaluations(session).empty());
}

TEST_F(RecordStoreTest, KeepsMessagesThatAreNotUtf8) {
  RecordStore store = open();
  const SessionId session = store.begin_session(records::session_info());
  Evaluation evaluation = records::evaluation(32, 2100.0);
  evaluation.detail = "bad byte \xff here";
  store.add_evaluation(session, evaluation);
  EXPECT_EQ(store.evaluations(session).at(0).evaluation.detail, "bad byte \xef\xbf\xbd here");
}

TEST_F(RecordStoreTest, BindsTextAndNeverRunsIt) {
  RecordStore store = open();
  SessionInfo info = records::session_info();
  info.workload_name = "x'); DROP TABLE session; --";
  store.begin_session(info);
  EXPECT_EQ(store.sessions().at(0).info.workload_name, info.workload_name);
}

TEST_F(RecordStoreTest, CountsEvaluationsByStatus) {
  RecordStore store = open();
  const SessionId session = store.begin_session(records::session_info());
  for (const Status status : {Status::Ok, Status::Ok, Status::WrongResult, Status::Crashed}) {
    Evaluation evaluation = records::evaluation(32, 2100.0);
    evaluation.status = status;
    store.add_evaluation(session, evaluation);
  }
  EXPECT_EQ(
      store.status_counts(session),
      (std::map<Status, std::int64_t>{
          {Status::Ok, 2}, {Status::WrongResult, 1}, {Status::Crashed, 1}})
  );
}

TEST_F(RecordStoreTest, ReturnsDecisionsInOrder) {
  RecordStore store = open();
  const SessionId session = store.begin_session(records::session_info());
  store.add_decision(session, {});
  store.add_decision(session, records::decision(32));
  EXPECT_EQ(store.decisions(session), (std::vector{Decision{}, records::decision(32)}));
  EXPECT_TRUE(store.sessions().at(0).decided);
}

TEST_F(RecordStoreTest, ListsOnlyTheSessionsThatTheFilterNames) {
  RecordStore store = open();
  SessionInfo other = records::session_info();
  other.workload_key = "fedcba";
  other.target = Target::Cpu;
  store.begin_session(records::session_info());
  const SessionId id = store.begin_session(other);
  EXPECT_EQ(
      store.sessions({.workload_key = "fedcba", .device_class = "", .target = {}}).at(0).id, id
  );
  EXPECT_EQ(
      store.sessions({.workload_key = "", .device_class = "", .target = Target::Cpu}).size(), 1u
  );
  EXPECT_EQ(store.sessions({.workload_key = "", .device_class = "none", .target = {}}).size(), 0u);
}

TEST_F(RecordStoreTest, ReturnsAnArtifactWithItsPlan) {
  RecordStore store = open();
  StoredArtifact artifact{
      .key = "k",
      .plan = {},
      .code = std::string(
          "\x7f"
          "ELF\0\1",
          6
      )};
  artifact.plan.blocks = 132;
  store.put_artifact(artifact);
  EXPECT_EQ(store.artifact("k"), artifact);
  EXPECT_EQ(store.artifact("other"), std::nullopt);
}

TEST_F(RecordStoreTest, ReplacesAnArtifactAsAWhole) {
  RecordStore store = open();
  StoredArtifact artifact{.key = "k", .plan = {}, .code = "first"};
  store.put_artifact(artifact);
  artifact.code = "second";
  artifact.plan.threads = 256;
  store.put_artifact(artifact);
  EXPECT_EQ(store.artifact("k"), artifact);
  EXPECT_EQ(store.check().num_artifacts, 1);
}

TEST_F(RecordStoreTest, FindsNoFaultInWhatItWrote) {
  RecordStore store = open();
  const SessionId session = store.begin_session(records::session_info());
  store.add_evaluation(session, records::evaluation(32, 2100.0));
  store.add_decision(session, records::decision(32));
  store.put_artifact({.key = "k", .plan = {}, .code = "code"});
  EXPECT_EQ(
      store.check(),
      (IntegrityReport{
          .num_sessions = 1,
          .num_evaluations = 1,
          .num_sample_blocks = 2,
          .num_decisions = 1,
          .num_artifacts = 1,
          .problems = {}})
  );
}

TEST_F(RecordStoreTest, MakesMissingFoldersPrivate) {
  const TemporaryFolder folder("whet-store-");
  const std::filesystem::path inner = folder.path() / "a b" / "M\xc3\xbcller%?#";
  RecordStore::open(inner / "records.db", Mode::ReadWrite);
  struct stat status {};
  ASSERT_EQ(::stat(inner.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
  EXPECT_TRUE(std::filesystem::exists(inner / "records.db"));
}

TEST_F(RecordStoreTest, WritesNothingThroughAReader) {
  open();
  RecordStore reader = open(Mode::ReadOnly);
  EXPECT_THROW(reader.begin_session(records::session_info()), EnvironmentError);
}

}  // namespace
}  // namespace whet
