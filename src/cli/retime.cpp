#include "cli/retime.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "cli/configuration_choice.hpp"
#include "cli/evaluator_setup.hpp"
#include "cli/record_identity.hpp"
#include "cli/stored_match.hpp"
#include "cli/workload_choice.hpp"
#include "harness/interleaved_measurement.hpp"

namespace whet {
namespace {

/// Something to time, under the name by which it is asked for.
struct Subject {
  std::string name;
  Evaluation evaluation;
};

/// What the database says of the workload, and what of it can be timed.
struct StoredSubjects {
  Match match;
  std::vector<Subject> subjects;
};

/// The fastest of a session that launches every step. Screening is enough to find it: its time is
/// measured afresh.
std::optional<Configuration> best_one_launch(const SessionReport& session) {
  std::optional<Configuration> best;
  double best_ns = 0.0;
  for (const Evaluation& evaluation : session.evaluations) {
    const std::optional<double> time_ns = median_time_ns(evaluation);
    if (evaluation.status == Status::Ok && time_ns &&
        steps_per_launch(evaluation.configuration) == 1 && (!best || *time_ns < best_ns)) {
      best = evaluation.configuration;
      best_ns = *time_ns;
    }
  }
  return best;
}

Subject subject(std::string name, Configuration configuration) {
  Subject subject{.name = std::move(name), .evaluation = {}};
  subject.evaluation.configuration = std::move(configuration);
  return subject;
}

/// The winner, and the best with one launch a step where that is another one.
StoredSubjects find_stored(const std::filesystem::path& database, const LookupKey& key) {
  StoredSubjects stored{.match = find_match(database, key), .subjects = {}};
  const std::optional<SessionReport> session = find_session(database, key, stored.match);
  if (!session || !session->decision.winner) {
    return stored;
  }
  stored.subjects.push_back(subject("winner", *session->decision.winner));
  if (steps_per_launch(*session->decision.winner) != 1) {
    if (const auto one_launch = best_one_launch(*session)) {
      stored.subjects.push_back(subject("one-launch", *one_launch));
    }
  }
  return stored;
}

/// Sets the status of each subject. A space may have lost a stored value since.
void evaluate_all(Evaluator& evaluator, const SearchSpace& space, std::vector<Subject>& subjects) {
  for (auto& [name, evaluation] : subjects) {
    const Configuration configuration = space.complete(evaluation.configuration);
    if (const auto problem = space.why_not_member(configuration)) {
      evaluation.status = Status::ConstraintViolated;
      evaluation.detail = *problem;
    } else {
      evaluation = evaluate(evaluator, configuration);
    }
  }
}

/// Loads the valid ones; gives their names in the order in which the worker knows them.
std::vector<std::string> keep_valid(Evaluator& evaluator, const std::vector<Subject>& subjects) {
  std::vector<std::string> names;
  std::vector<Configuration> configurations;
  for (const auto& [name, evaluation] : subjects) {
    if (evaluation.status == Status::Ok) {
      names.push_back(name);
      configurations.push_back(evaluation.configuration);
    }
  }
  if (!names.empty()) {
    evaluator.keep_resident(configurations);
  }
  return names;
}

void print_line(const Json& document) {
  fmt::print("{}\n", document.dump());
  std::fflush(stdout);  // whoever asked waits for it
}

Json to_json(const Subject& subject) {
  Json json{{"name", subject.name}};
  json["steps_per_launch"] = steps_per_launch(subject.evaluation.configuration);
  json.update(to_json(subject.evaluation));
  json.erase("blocks");
  return json;
}

Json ready_line(
    const WorkloadChoice& workload,
    const DeviceChoice& device,
    const EvaluatorOptions& options,
    const Evaluator& evaluator,
    const std::optional<Match>& match,
    const std::vector<Subject>& subjects
) {
  Json environment = generating_versions(device.limits.target);
  environment["libtorch"] = evaluator.libtorch_version();
  Json line{
      {"schema", "whet.blocks/1"},
      {"workload", workload.name},
      {"key", workload.key},
      {"target", target_name(device.limits.target)},
      {"device", evaluator.device()},
      {"threads", options.num_threads},
      {"environment", environment},
      {"bundle", evaluator.bundles().at(0).string()},
      {"plan",
       {{"num_steps", options.num_steps},
        {"num_samples", options.block.num_samples},
        {"min_sample_ns", options.block.min_sample_ns}}}};
  if (match) {
    line["match"] = grade_name(match->grade);
    line["reason"] = match->reason;
  }
  line["subjects"] = Json::array();
  for (const Subject& entry : subjects) {
    line["subjects"].push_back(to_json(entry));
  }
  return line;
}

Json block_line(
    const std::string& name,
    const std::variant<MeasuredBlock, Outcome>& answer,
    std::int64_t block_idx
) {
  Json line{{"subject", name}};
  if (const auto* outcome = std::get_if<Outcome>(&answer)) {
    line["status"] = status_name(outcome->status);
    line["detail"] = outcome->detail;
    return line;
  }
  const auto& block = std::get<MeasuredBlock>(answer);
  line["status"] = status_name(Status::Ok);
  line["steady"] = block.steady;
  line["num_dropped"] = block.num_dropped;
  line.update(to_json(to_sample_block(block, 0, block_idx, "retime")));
  return line;
}

void answer_requests(Evaluator& evaluator, const std::vector<std::string>& names) {
  std::string wanted;
  for (std::int64_t block_idx = 0; std::getline(std::cin, wanted); ++block_idx) {
    const auto found = std::ranges::find(names, wanted);
    if (found == names.end()) {
      throw UserError(fmt::format(
          "standard input: expected the name of a subject whose status is Ok ({}), found '{}'",
          fmt::join(names, ", "),
          wanted
      ));
    }
    const auto position = static_cast<std::size_t>(found - names.begin());
    print_line(block_line(wanted, evaluator.measure_resident(position), block_idx));
  }
}

}  // namespace

int run_retime(const RetimeOptions& options, const Environment& environment) {
  const WorkloadChoice workload =
      choose_workload(options.workload, parse_dims(options.dims), environment);
  const DeviceChoice device = choose_present_device(options.device, environment);
  if (device.limits.target == Target::CudaEmulated) {
    throw UserError("--target cuda-emulated: emulation is never timed; say cpu or cuda");
  }
  const SearchSpace space(workload.workload.step, device.limits);
  StoredSubjects stored;
  // Given configurations alone need no database.
  const bool looks_up = options.configurations.empty() || !options.database.empty();
  if (looks_up) {
    stored = find_stored(
        database_path(environment, options.database),
        lookup_key(workload, device.limits, environment)
    );
  }
  std::vector<Subject> subjects = std::move(stored.subjects);
  for (std::size_t i = 0; i < options.configurations.size(); ++i) {
    subjects.push_back(subject(
        fmt::format("given-{}", i + 1),
        choose_configuration(options.configurations[i], space, "--configuration")
    ));
  }
  EvaluatorOptions evaluator_options = whet::evaluator_options(workload, device, environment);
  evaluator_options.num_screen_blocks = 0;  // what is asked for is timed, nothing else
  Evaluator evaluator(evaluator_options);
  evaluator.prepare();
  evaluate_all(evaluator, space, subjects);
  const std::vector<std::string> names = keep_valid(evaluator, subjects);
  print_line(ready_line(
      workload,
      device,
      evaluator_options,
      evaluator,
      looks_up ? std::optional(stored.match) : std::nullopt,
      subjects
  ));
  if (names.empty()) {
    return 1;
  }
  answer_requests(evaluator, names);
  return 0;
}

}  // namespace whet
