// What becomes of candidates and the evaluator when a worker dies, hangs or writes garbage.

#include <optional>
#include <ostream>
#include <string>

#include "base/error.hpp"
#include "fault/evaluator_fixture.hpp"

namespace whet {
namespace {

class WorkerFault : public EvaluatorFixture {
 protected:
  /// The next `num_workers` workers commit `fault` at their `nth` request of `kind`.
  void inject(const std::string& fault, const std::string& kind, int nth = 1, int num_workers = 1) {
    std::filesystem::create_directories(tokens());
    for (int i = 0; i < num_workers; ++i) {
      write_file_atomically(tokens() / std::to_string(i), "");
    }
    const std::vector<std::string> real = options_.worker_command;
    options_.worker_command = {
        WHET_FAULTY_WORKER, fault, kind, std::to_string(nth), tokens().string()};
    options_.worker_command.insert(options_.worker_command.end(), real.begin(), real.end());
  }

  /// The process that misbehaved, if one did by now.
  std::optional<pid_t> committer() const {
    const std::filesystem::path file = tokens().string() + ".committed";
    return std::filesystem::exists(file) ? std::optional(std::stoi(read_file(file))) : std::nullopt;
  }

 private:
  std::filesystem::path tokens() const { return folder_.path() / "tokens"; }

  TemporaryFolder folder_{"whet-worker-fault-"};
};

TEST_F(WorkerFault, KilledOnceCostsTheCandidateNothing) {
  inject("kill", "validate");
  Evaluator& evaluator = start();

  const Evaluation evaluation = evaluate(evaluator, {});

  EXPECT_TRUE(committer().has_value());
  EXPECT_EQ(evaluation.status, Status::Ok) << evaluation.detail;
  EXPECT_EQ(evaluation.blocks.at(0).process, 1);
}

TEST_F(WorkerFault, KilledTwiceEndsTheCandidateAsCrashed) {
  inject("kill", "validate", 1, 2);
  Evaluator& evaluator = start();

  const Evaluation evaluation = evaluate(evaluator, {});

  EXPECT_EQ(evaluation.status, Status::Crashed);
  expect_says(evaluation.detail, "killed by signal 9");
  EXPECT_TRUE(evaluation.blocks.empty());
  expect_goes_on();
}

/// A request that is never answered, and how the parent's deadline for it is set.
struct Hang {
  const char* request;
  std::chrono::milliseconds WorkerDeadlines::*deadline;
};

void PrintTo(const Hang& hang, std::ostream* out) { *out << hang.request; }

class HangingWorker : public WorkerFault, public ::testing::WithParamInterface<Hang> {};

TEST_P(HangingWorker, EndsTheCandidateAsTimedOut) {
  inject("hang", GetParam().request, 1, 2);
  // What a good worker does here takes some milliseconds.
  options_.worker_deadlines.*GetParam().deadline = std::chrono::seconds(3);
  Evaluator& evaluator = start();

  const Evaluation evaluation = evaluate(evaluator, {});

  EXPECT_EQ(evaluation.status, Status::TimedOut);
  expect_says(evaluation.detail, "gave no answer within 3.0 s");
  EXPECT_TRUE(committer().has_value());
  expect_goes_on();
}

INSTANTIATE_TEST_SUITE_P(
    Requests,
    HangingWorker,
    ::testing::Values(
        Hang{"load", &WorkerDeadlines::load},
        Hang{"validate", &WorkerDeadlines::validate},
        Hang{"measure", &WorkerDeadlines::measure_block}
    ),
    [](const auto& test) { return std::string(test.param.request); }
);

/// What a worker writes instead of an answer, and what the candidate's detail says of it.
struct Nonsense {
  const char* name;
  const char* fault;
  const char* detail;
};

void PrintTo(const Nonsense& nonsense, std::ostream* out) { *out << nonsense.fault; }

class NonsensicalWorker : public WorkerFault, public ::testing::WithParamInterface<Nonsense> {};

TEST_P(NonsensicalWorker, EndsTheCandidateAsCrashed) {
  inject(GetParam().fault, "validate", 1, 2);
  Evaluator& evaluator = start();

  const Evaluation evaluation = evaluate(evaluator, {});

  EXPECT_EQ(evaluation.status, Status::Crashed);
  expect_says(evaluation.detail, GetParam().detail);
  EXPECT_TRUE(committer().has_value());
  expect_goes_on();
}

INSTANTIATE_TEST_SUITE_P(
    Answers,
    NonsensicalWorker,
    ::testing::Values(
        Nonsense{"Text", "text", "broke the conversation"},
        Nonsense{"NotJson", "not-json", "broke the conversation"},
        Nonsense{"OtherVersion", "other-version", "broke the conversation"},
        Nonsense{"OtherAnswer", "other-answer", "broke the conversation"},
        Nonsense{"EmptyAnswer", "empty-answer", "broke the conversation"},
        Nonsense{"HalfAFrame", "torn", "exit code 0"},
        Nonsense{"Nothing", "exit", "exit code 7; it wrote: the worker's last words"}
    ),
    [](const auto& test) { return std::string(test.param.name); }
);

TEST_F(WorkerFault, OfAWorkerThatHeldOthersIsTriedAgainAlone) {
  inject("exit", "validate", 2);
  Evaluator& evaluator = start();

  const Evaluation first = evaluate(evaluator, {});
  const Evaluation second = evaluate(evaluator, parse_configuration("unroll=2"));

  EXPECT_EQ(first.status, Status::Ok) << first.detail;
  EXPECT_TRUE(committer().has_value());
  EXPECT_EQ(second.status, Status::Ok) << second.detail;
  EXPECT_EQ(second.blocks.at(0).process, 1);
}

TEST_F(WorkerFault, DuringAnInterleavedMeasurementCostsNoSamplesOfOthers) {
  const Configuration one = parse_configuration("tile_m=16");
  const Configuration other = parse_configuration("unroll=2");
  // The first worker is asked for one measurement of each when they are screened, the second for
  // two of each.
  inject("exit", "measure", 3, 2);
  Evaluator& evaluator = start();
  ASSERT_EQ(evaluate(evaluator, one).status, Status::Ok);
  ASSERT_EQ(evaluate(evaluator, other).status, Status::Ok);
  ASSERT_FALSE(committer().has_value());

  const InterleavedResult result = evaluator.measure_interleaved(
      {.candidates = {one, other}, .num_processes = 2, .num_rounds = 1, .purpose = "final"}
  );

  EXPECT_TRUE(committer().has_value());
  for (const InterleavedEntry& entry : result.candidates) {
    EXPECT_EQ(entry.status, Status::Ok) << entry.detail;
    ASSERT_EQ(entry.blocks.size(), 4U);
    // One that failed, and two that cleared the candidates, lie between.
    EXPECT_EQ(entry.blocks.front().process, 4);
  }
}

TEST_F(WorkerFault, DuringATimelineEndsTheTimelineAndNothingElse) {
  // The first worker validates; the timeline has one of its own.
  inject("exit", "timeline", 1, 2);
  Evaluator& evaluator = start();
  const Configuration configuration = parse_configuration("tile_m=16");
  ASSERT_EQ(evaluate(evaluator, configuration).status, Status::Ok);

  const TimelineResponse response = evaluator.timeline(configuration);

  EXPECT_EQ(response.outcome.status, Status::Crashed) << response.outcome.detail;
  EXPECT_TRUE(response.timeline.blocks.empty());
  EXPECT_TRUE(committer().has_value());
  expect_goes_on();
}

TEST_F(WorkerFault, BeforeTheFirstAnswerEndsTheCommand) {
  inject("exit", "open");
  try {
    start();
    FAIL() << "a worker that did not start was taken for one";
  } catch (const EnvironmentError& error) {
    expect_says(error.what(), "did not start");
  }
}

}  // namespace
}  // namespace whet
