#include "cli/tune.hpp"

#include <cstdio>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "cli/evaluator_setup.hpp"
#include "cli/interruption.hpp"
#include "cli/progress.hpp"
#include "cli/record_identity.hpp"
#include "cli/workload_choice.hpp"
#include "report/tables.hpp"
#include "tuner/session.hpp"

namespace whet {
namespace {

constexpr int kInterrupted = 130;

/// Hands what a session reports to the progress bar.
class ProgressEvents final : public SessionEvents {
 public:
  explicit ProgressEvents(Progress& progress) : progress_(progress) {}
  void announce(const std::string& what) override { progress_.announce(what); }
  void observe(const Evaluation& evaluation) override { progress_.observe(evaluation); }

 private:
  Progress& progress_;
};

std::vector<WorkloadChoice> load_workloads(
    const TuneOptions& options, const Environment& environment
) {
  const DimOverrides dims = parse_dims(options.dims);
  std::vector<WorkloadChoice> choices;
  for (const std::string& file : options.workloads) {
    if (options.is_suite) {
      for (WorkloadChoice& entry : choose_suite(file, dims, environment)) {
        choices.push_back(std::move(entry));
      }
    } else {
      choices.push_back(choose_workload(file, dims, environment));
    }
  }
  return choices;
}

SessionInfo describe_session(
    const TuneOptions& options,
    const WorkloadChoice& workload,
    const DeviceChoice& device,
    const Environment& environment
) {
  const LookupKey key = lookup_key(workload, device.limits, environment);
  return {
      .workload_key = key.workload_key,
      .workload_name = workload.name,
      .workload_text = workload.source.text,
      .device_class = key.device_class,
      .device_name = device.limits.name,
      .target = key.target,
      .tolerance_set = key.tolerance_set,
      .options = {{"budget", options.budget}, {"strategy", options.strategy}},
      .versions = generating_versions(key.target),
      .seed = options.seed};
}

/// The newest session about the same thing that never came to a decision.
std::optional<SessionId> unfinished_session(const RecordStore& store, const SessionInfo& info) {
  const std::vector<SessionRecord> sessions = store.sessions(
      {.workload_key = info.workload_key,
       .device_class = info.device_class,
       .target = info.target}
  );
  for (auto session = sessions.rbegin(); session != sessions.rend(); ++session) {
    if (!session->decided && session->info.seed == info.seed &&
        session->info.options == info.options) {
      return session->id;
    }
  }
  return std::nullopt;
}

struct Tuned {
  SessionReport report;
  bool interrupted = false;
};

Tuned tune_one(
    const TuneOptions& options,
    const WorkloadChoice& workload,
    const DeviceChoice& device,
    RecordStore& store,
    const Environment& environment
) {
  const SearchSpace space(workload.workload.step, device.limits);
  const Budget budget = parse_budget(options.budget);
  const std::unique_ptr<Strategy> strategy = make_strategy(options.strategy, space, options.seed);
  const SessionInfo info = describe_session(options, workload, device, environment);
  const std::optional<SessionId> unfinished =
      options.resume ? unfinished_session(store, info) : std::nullopt;
  const SessionId session = unfinished ? *unfinished : store.begin_session(info);
  Evaluator evaluator(evaluator_options(workload, device, environment));
  Progress progress(stderr, environment.output_is_terminal, budget);
  progress.announce(workload.name);
  ProgressEvents events(progress);
  const SessionOptions session_options{.budget = budget, .seed = options.seed};
  SessionOutcome outcome = run_session(
      evaluator, space, *strategy, store, session, session_options, events, watch_interruption()
  );
  progress.finish();
  Tuned tuned{.report = {}, .interrupted = outcome.interrupted};
  tuned.report.workload = workload.name;
  tuned.report.key = info.workload_key;
  tuned.report.target = target_name(info.target);
  tuned.report.device = evaluator.device();
  tuned.report.budget = options.budget;
  for (const auto& [name, version] : info.versions.items()) {
    tuned.report.environment[name] = version.get<std::string>();
  }
  tuned.report.environment["libtorch"] = evaluator.libtorch_version();
  tuned.report.decision = std::move(outcome.decision);
  tuned.report.evaluations = std::move(outcome.evaluations);
  return tuned;
}

std::filesystem::path write_reports(
    const TuneOptions& options, const std::string& name, const std::vector<SessionReport>& reports
) {
  const std::filesystem::path folder = std::filesystem::absolute(options.report_folder);
  write_file_atomically(
      folder / (name + ".json"), report_document(name, reports, Samples::Kept).dump(1) + "\n"
  );
  const std::filesystem::path page = folder / (name + ".md");
  write_file_atomically(page, to_markdown("whet: " + name, reports));
  return page;
}

void print_results(
    const TuneOptions& options,
    const std::string& name,
    const std::vector<SessionReport>& reports,
    const std::filesystem::path& page
) {
  if (options.json) {
    const Json document = reports.size() == 1 && !options.is_suite
                              ? result_document(reports.front(), Samples::Left)
                              : report_document(name, reports, Samples::Left);
    fmt::print("{}\n", document.dump(2));
    return;
  }
  for (const SessionReport& report : reports) {
    fmt::print("{}\n", result_table(report));
  }
  if (reports.size() > 1) {
    fmt::print("{}\n", suite_table(reports));
  }
  fmt::print("report: {}\n", page.string());
}

}  // namespace

int run_tune(const TuneOptions& options, const Environment& environment) {
  const std::vector<WorkloadChoice> workloads = load_workloads(options, environment);
  const DeviceChoice device = choose_present_device(options.device, environment);
  RecordStore store = RecordStore::open(
      database_path(environment, options.database), RecordStore::Mode::ReadWrite
  );
  std::vector<SessionReport> reports;
  int exit_code = 0;
  for (const WorkloadChoice& workload : workloads) {
    Tuned tuned = tune_one(options, workload, device, store, environment);
    exit_code = tuned.report.decision.verdict == Verdict::NoValid ? 1 : exit_code;
    reports.push_back(std::move(tuned.report));
    if (tuned.interrupted) {
      exit_code = kInterrupted;
      break;
    }
  }
  const std::string name = std::filesystem::path(options.workloads.front()).stem().string();
  const std::filesystem::path page = write_reports(options, name, reports);
  print_results(options, name, reports, page);
  return exit_code;
}

}  // namespace whet
