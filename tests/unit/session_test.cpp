#include "tuner/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/files.hpp"
#include "support/fake_evaluator.hpp"
#include "support/programs.hpp"
#include "support/record_samples.hpp"
#include "tuner/replay.hpp"

namespace whet {
namespace {

class SilentEvents : public SessionEvents {
 public:
  int num_observed = 0;
  void announce(const std::string&) override {}
  void observe(const Evaluation&) override { ++num_observed; }
};

class TuningSession : public ::testing::Test {
 protected:
  SessionOutcome run(const std::string& budget, const std::string& strategy_name = "random") {
    SessionOptions options;
    options.budget = parse_budget(budget);
    options.with_peers = false;
    options.final_share = final_share_;
    const auto strategy = make_strategy(strategy_name, space_, 7);
    return run_session(
        evaluator_, space_, *strategy, store_, session_, options, events_, interrupted_
    );
  }

  /// What another process would see in the store now.
  std::vector<EvaluationRecord> committed() const {
    return RecordStore::open(path_, RecordStore::Mode::ReadOnly).evaluations(session_);
  }

  TemporaryFolder folder_{"whet-session-test-"};
  std::filesystem::path path_ = folder_.path() / "records.db";
  RecordStore store_ = RecordStore::open(path_, RecordStore::Mode::ReadWrite);
  SessionId session_ = store_.begin_session(records::session_info());
  Program program_ = testing::mlp(4, 16, 24, 5, DType::F32);
  SearchSpace space_{program_, host_limits(2)};
  double final_share_ = 0.0;
  FakeEvaluator evaluator_;
  SilentEvents events_;
  std::atomic<bool> interrupted_ = false;
};

TEST_F(TuningSession, CommitsEachEvaluationBeforeTheNextIsAskedFor) {
  evaluator_.num_slots = 3;
  int num_asked = 0;
  evaluator_.before_next = [&] {
    EXPECT_EQ(committed().size(), static_cast<std::size_t>(num_asked));
    ++num_asked;
  };
  run("8");
  EXPECT_EQ(num_asked, 8);
}

TEST_F(TuningSession, KeepsWhatWasFinishedWhenTheEvaluatorFails) {
  evaluator_.before_next = [this] {
    if (evaluator_.num_evaluated == 3) {
      throw EnvironmentError("the device fell off the bus");
    }
  };
  EXPECT_THROW(run("8"), EnvironmentError);
  EXPECT_EQ(committed().size(), 3U);
}

TEST_F(TuningSession, EndsCleanlyWhenInterrupted) {
  evaluator_.num_slots = 4;
  evaluator_.before_next = [this] { interrupted_ = evaluator_.num_evaluated == 4; };

  const SessionOutcome outcome = run("1000");

  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.evaluations.size(), 5U);
  EXPECT_EQ(committed().size(), 5U);
  EXPECT_GT(evaluator_.num_cancelled, 0);
  EXPECT_EQ(evaluator_.submitted.size(), 5U + static_cast<std::size_t>(evaluator_.num_cancelled));
  EXPECT_EQ(outcome.decision.detail.at("partial"), true);
  ASSERT_EQ(store_.decisions(session_).size(), 1U);
  EXPECT_EQ(store_.decisions(session_).front(), outcome.decision);
}

TEST_F(TuningSession, DoesNotCallAWholeSearchPartial) {
  const SessionOutcome outcome = run("6");
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_FALSE(outcome.decision.detail.contains("partial"));
}

TEST_F(TuningSession, CountsHowCandidatesEnded) {
  evaluator_.judge = [](const Configuration& configuration) {
    const std::string& tile = configuration.values.at("tile_m");
    return tile == "8" ? Status::Crashed : tile == "16" ? Status::WrongResult : Status::Ok;
  };

  const SessionOutcome outcome = run("60");

  std::map<Status, std::int64_t> expected;
  for (const Configuration& configuration : evaluator_.submitted) {
    ++expected[evaluator_.judge(configuration)];
  }
  ASSERT_EQ(expected.size(), 3U);
  EXPECT_EQ(store_.status_counts(session_), expected);
  for (const auto& [status, count] : expected) {
    EXPECT_EQ(outcome.decision.detail.at("counts").at(std::string(status_name(status))), count);
  }
}

TEST_F(TuningSession, HasNoVerdictButNoValidWhenAllFail) {
  evaluator_.judge = [](const Configuration&) { return Status::TimedOut; };

  const SessionOutcome outcome = run("5");

  EXPECT_EQ(outcome.decision.verdict, Verdict::NoValid);
  EXPECT_FALSE(outcome.decision.winner.has_value());
  EXPECT_EQ(outcome.decision.detail.at("counts").at("TimedOut"), 5);
  EXPECT_TRUE(evaluator_.measured.empty());
}

TEST_F(TuningSession, KeepsTheBaselineWhenFreshProcessesDoNotConfirmTheWinner) {
  const Configuration baseline = space_.default_configuration();
  evaluator_.time_ns = [&](const Configuration& configuration) {
    const bool is_publishing =
        !evaluator_.measured.empty() && evaluator_.measured.back().purpose == "publish";
    return (configuration == baseline) == is_publishing ? 900.0 : 1000.0;
  };

  const SessionOutcome outcome = run("6");

  EXPECT_EQ(outcome.decision.verdict, Verdict::KeepBaseline);
  EXPECT_EQ(outcome.decision.winner, baseline);
  EXPECT_TRUE(outcome.decision.detail.contains("unconfirmed"));
  ASSERT_TRUE(outcome.decision.time_ns.has_value());
  EXPECT_NEAR(outcome.decision.time_ns->median, 901.0, 3.0);
}

TEST_F(TuningSession, TriesTheBaselineFirst) {
  run("3");
  EXPECT_EQ(evaluator_.submitted.at(0), space_.default_configuration());
}

TEST_F(TuningSession, SpendsItsBudgetOnWhatIsCompiledOnly) {
  evaluator_.num_slots = 3;
  evaluator_.judge = [](const Configuration& configuration) {
    return configuration.values.at("tile_n") == "64" ? Status::Ok : Status::ConstraintViolated;
  };

  run("10");

  const std::map<Status, std::int64_t> counts = store_.status_counts(session_);
  EXPECT_EQ(counts.at(Status::Ok), 10);
  EXPECT_GT(counts.at(Status::ConstraintViolated), 0);
}

TEST_F(TuningSession, EvaluatesNoConfigurationTwice) {
  for (const std::string strategy : {"exhaustive", "random"}) {
    evaluator_.submitted.clear();
    session_ = store_.begin_session(records::session_info());
    run("60", strategy);
    const std::set<Configuration> different(
        evaluator_.submitted.begin(), evaluator_.submitted.end()
    );
    EXPECT_EQ(different.size(), 60U) << strategy;
    EXPECT_EQ(evaluator_.submitted.size(), 60U) << strategy;
  }
}

TEST_F(TuningSession, GoesOnWhereAnEarlierRunStopped) {
  run("5");
  const std::vector<Configuration> before = std::move(evaluator_.submitted);
  evaluator_.submitted.clear();

  const SessionOutcome outcome = run("8");

  EXPECT_EQ(evaluator_.submitted.size(), 3U);
  for (const Configuration& configuration : evaluator_.submitted) {
    EXPECT_EQ(std::find(before.begin(), before.end(), configuration), before.end());
  }
  EXPECT_EQ(outcome.evaluations.size(), 8U);
  EXPECT_EQ(committed().size(), 8U);
}

/// The smallest number of the knob `unroll` is the fastest, by a fifth a step.
double by_unroll(const Configuration& configuration) {
  return 1e3 * (1.0 + 0.2 * std::stod(configuration.values.at("unroll")));
}

TEST_F(TuningSession, UsesWhatSurelyBeatsTheBaselineAndPublishesFreshSamples) {
  evaluator_.time_ns = by_unroll;

  const SessionOutcome outcome = run("40");

  EXPECT_EQ(outcome.decision.verdict, Verdict::Use);
  ASSERT_TRUE(outcome.decision.winner.has_value());
  EXPECT_EQ(outcome.decision.winner->values.at("unroll"), "2");
  ASSERT_EQ(evaluator_.measured.size(), 2U);
  EXPECT_EQ(evaluator_.measured[0].purpose, "final");
  EXPECT_EQ(evaluator_.measured[1].purpose, "publish");
  ASSERT_TRUE(outcome.decision.time_ns.has_value());
  EXPECT_NEAR(outcome.decision.time_ns->median, by_unroll(*outcome.decision.winner), 5.0);
  ASSERT_EQ(outcome.decision.baselines.size(), 1U);
  EXPECT_NEAR(
      outcome.decision.baselines[0].time_ns.median, by_unroll(space_.default_configuration()), 5.0
  );
}

/// Finalists that differ in each process by turns, so that no look settles.
double by_turns(const Configuration& configuration, int process) {
  return 1e3 * (1.0 + 0.05 * std::sin(process + std::stod(configuration.values.at("unroll"))));
}

TEST_F(TuningSession, LooksAgainWhileNothingIsSettledAndTimeIsLeft) {
  evaluator_.time_in_process = by_turns;
  final_share_ = 1e9;

  const SessionOutcome outcome = run("20");

  std::vector<int> processes;
  for (const InterleavedRequest& request : evaluator_.measured) {
    processes.push_back(request.purpose == "final" ? request.num_processes : 0);
  }
  EXPECT_EQ(processes, (std::vector<int>{4, 2, 3, 4, 6, 0}));
  EXPECT_EQ(outcome.decision.detail.at("num_processes"), 19);
}

TEST_F(TuningSession, LooksOnceWhereNoTimeIsLeft) {
  evaluator_.time_in_process = by_turns;
  const SessionOutcome outcome = run("20");
  EXPECT_EQ(outcome.decision.detail.at("num_processes"), 4);
}

TEST_F(TuningSession, KeepsTheBaselineAmongEquals) {
  const SessionOutcome outcome = run("20");
  EXPECT_EQ(outcome.decision.verdict, Verdict::KeepBaseline);
  EXPECT_EQ(outcome.decision.winner, space_.default_configuration());
}

TEST_F(TuningSession, DecidesAgainAsItDidFromWhatIsStored) {
  final_share_ = 1e9;
  for (const auto& time_in_process : {decltype(evaluator_.time_in_process){}, {by_turns}}) {
    for (const char* budget : {"10", "20"}) {  // the second goes on where the first stopped
      evaluator_.time_ns = by_unroll;
      evaluator_.time_in_process = time_in_process;
      const Decision decision = run(budget).decision;
      std::vector<Evaluation> evaluations;
      for (EvaluationRecord& record : committed()) {
        evaluations.push_back(std::move(record.evaluation));
      }
      EXPECT_EQ(differences(decision, replay(evaluations, decision)), std::vector<std::string>{});
    }
  }
}

TEST_F(TuningSession, ShowsEveryEvaluationToTheProgressBar) {
  run("7");
  EXPECT_EQ(events_.num_observed, 7);
}

}  // namespace
}  // namespace whet
