#include "cli/tuning_session.hpp"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "cli/evaluator_setup.hpp"
#include "cli/interruption.hpp"
#include "cli/noise.hpp"
#include "cli/progress.hpp"
#include "cli/record_identity.hpp"
#include "cli/session_model.hpp"
#include "tuner/session.hpp"

namespace whet {
namespace {

/// Hands what a session reports to the progress bar.
class ProgressEvents final : public SessionEvents {
 public:
  explicit ProgressEvents(Progress& progress) : progress_(progress) {}
  void announce(const std::string& what) override { progress_.announce(what); }
  void observe(const Evaluation& evaluation) override { progress_.observe(evaluation); }

 private:
  Progress& progress_;
};

SessionInfo describe_session(
    const TuneOptions& options,
    const WorkloadChoice& workload,
    const DeviceChoice& device,
    const std::string& strategy,
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
      .options =
          {{"budget", options.budget}, {"strategy", strategy}, {"dims", workload.source.dims}},
      .versions = generating_versions(key.target),
      .seed = options.seed};
}

/// No decision, or one on part of the search only.
bool is_unfinished(const RecordStore& store, const SessionRecord& session) {
  if (!session.decided) {
    return true;
  }
  const std::vector<Decision> decisions = store.decisions(session.id);
  return !decisions.empty() && decisions.back().detail.value("partial", false);
}

/// Equal but for the order of keys, which the store sorts.
bool same_fields(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

/// Whether going on with `earlier` gives what `wanted` asks for: the same search under the same
/// versions. Its budget may be another: to spend more is a reason to go on.
bool continues(const SessionInfo& earlier, const SessionInfo& wanted) {
  return earlier.seed == wanted.seed && earlier.tolerance_set == wanted.tolerance_set &&
         earlier.options.value("strategy", "") == wanted.options.value("strategy", "") &&
         same_fields(earlier.versions, wanted.versions);
}

/// The newest session that `info` may continue and that did not come to its end.
std::optional<SessionId> find_unfinished(const RecordStore& store, const SessionInfo& info) {
  const std::vector<SessionRecord> sessions = store.sessions(
      {.workload_key = info.workload_key, .device_class = info.device_class, .target = info.target}
  );
  for (auto session = sessions.rbegin(); session != sessions.rend(); ++session) {
    if (continues(session->info, info) && is_unfinished(store, *session)) {
      return session->id;
    }
  }
  return std::nullopt;
}

SessionId open_session(
    const TuneOptions& options, RecordStore& store, const SessionInfo& info, Progress& progress
) {
  if (options.resume) {
    if (const auto unfinished = find_unfinished(store, info)) {
      progress.announce("going on with the session that was cut short");
      return *unfinished;
    }
    progress.announce("no unfinished session with this strategy and seed: beginning a new one");
  }
  return store.begin_session(info);
}

SessionReport make_report(
    const TuneOptions& options,
    const SessionInfo& info,
    const Evaluator& evaluator,
    const std::optional<ModelInputs>& model,
    SessionOutcome outcome
) {
  SessionReport report;
  report.workload = info.workload_name;
  report.key = info.workload_key;
  report.target = target_name(info.target);
  report.device = evaluator.device();
  report.budget = options.budget;
  for (const auto& [name, version] : info.versions.items()) {
    report.environment[name] = version.get<std::string>();
  }
  report.environment["libtorch"] = evaluator.libtorch_version();
  report.decision = std::move(outcome.decision);
  report.evaluations = std::move(outcome.evaluations);
  if (model) {
    add_limits(report, model->program, model->limits, model->costs);
  }
  return report;
}

/// The strategy's name where none was chosen: the model orders a GPU's candidates well
/// (docs/method.md), a CPU's not surely.
std::string choose_strategy_name(
    const TuneOptions& options, Target target, const std::optional<ModelInputs>& model
) {
  if (!options.strategy.empty()) {
    return options.strategy;
  }
  return target == Target::Cuda && model ? "model" : "random";
}

std::unique_ptr<Strategy> choose_strategy(
    const std::string& name,
    const SearchSpace& space,
    std::uint64_t seed,
    const std::optional<ModelInputs>& model,
    Progress& progress
) {
  if (name != "model") {
    return make_strategy(name, space, seed);
  }
  if (!model) {
    throw UserError(
        "--strategy model: no costs for this device; `whet doctor --calibrate` measures them, and "
        "--strategy random does without"
    );
  }
  PredictedSample sample = predict_sample(space, seed, [&](const Configuration& configuration) {
    return predicted_ns(*model, configuration);
  });
  progress.announce(fmt::format(
      "the model orders {} configurations; {} more are pruned, predicted slower than {} times the "
      "best",
      sample.kept.size(),
      sample.num_pruned,
      kPruningMargin
  ));
  return make_model(std::move(sample));
}

}  // namespace

TunedWorkload tune_workload(
    const TuneOptions& options,
    const WorkloadChoice& workload,
    const DeviceChoice& device,
    RecordStore& store,
    const Environment& environment
) {
  const SessionOptions session_options{
      .budget = parse_budget(options.budget),
      .selector = {.process_sd = known_process_sd(device.limits, environment)},
      .seed = options.seed};
  const SearchSpace space(workload.workload.step, device.limits);
  std::optional<ModelInputs> model;
  if (auto costs = known_costs(device.limits, environment)) {
    model = {workload.workload.step, device.limits, std::move(*costs)};
  }
  const std::string strategy_name = choose_strategy_name(options, device.limits.target, model);
  const SessionInfo info = describe_session(options, workload, device, strategy_name, environment);
  Evaluator evaluator(evaluator_options(workload, device, environment));
  Progress progress(stderr, environment.output_is_terminal, session_options.budget);
  ProgressEvents events(progress);
  progress.announce(workload.name);
  const std::unique_ptr<Strategy> strategy =
      choose_strategy(strategy_name, space, options.seed, model, progress);
  const SessionId session = open_session(options, store, info, progress);
  SessionOutcome outcome = run_session(
      evaluator, space, *strategy, store, session, session_options, events, watch_interruption()
  );
  progress.finish();
  const bool interrupted = outcome.interrupted;
  return {
      .report = make_report(options, info, evaluator, model, std::move(outcome)),
      .interrupted = interrupted};
}

}  // namespace whet
