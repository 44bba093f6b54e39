#include "cli/evaluate.hpp"

#include <cstdio>

#include "cli/configuration_choice.hpp"
#include "cli/evaluator_setup.hpp"
#include "cli/schedule_text.hpp"
#include "cli/timeline_files.hpp"
#include "cli/workload_choice.hpp"
#include "report/format.hpp"
#include "report/timeline_summary.hpp"

namespace whet {
namespace {

/// The part of an Evaluation that is known without a device.
Evaluation compiled_only(const Configuration& configuration, const CompileResponse& response) {
  Evaluation evaluation;
  evaluation.configuration = configuration;
  evaluation.status = response.status;
  evaluation.detail = response.detail;
  evaluation.source_sha256 = response.source_sha256;
  evaluation.compile_s = response.compile_s;
  evaluation.resources = response.resources;
  evaluation.paths = response.paths;
  return evaluation;
}

void print_resources(const Resources& resources) {
  fmt::print("registers      {} a thread\n", resources.registers);
  fmt::print(
      "spills         {} B stored, {} B loaded a thread\n",
      resources.spill_store_bytes,
      resources.spill_load_bytes
  );
  fmt::print(
      "shared memory  {} B static, {} B dynamic a block\n",
      resources.static_shared_bytes,
      resources.dynamic_shared_bytes
  );
  fmt::print("code           {} B\n", resources.code_bytes);
}

void print_text(const Evaluation& evaluation, const DeviceLimits& limits) {
  fmt::print("status         {}\n", status_name(evaluation.status));
  if (!evaluation.detail.empty()) {
    fmt::print("detail         {}\n", evaluation.detail);
  }
  fmt::print("configuration  {}\n", to_text(evaluation.configuration));
  fmt::print("device         {}\n", limits.name);
  if (!evaluation.source_sha256.empty()) {
    fmt::print("source         {}\n", evaluation.source_sha256.substr(0, 12));
    fmt::print("compiled in    {:.2f} s\n", evaluation.compile_s);
  }
  if (limits.target == Target::Cuda && !evaluation.source_sha256.empty()) {
    print_resources(evaluation.resources);
  }
  for (const TaskPath& path : evaluation.paths) {
    fmt::print("{:<14} {}\n", path.task, describe_path(path));
    for (const std::string& obstacle : path.slower) {
      fmt::print("{:<14}   {}\n", "", obstacle);
    }
  }
  if (const auto& worst = evaluation.worst) {
    fmt::print(
        "worst error    {:.3g} of {:.3g} allowed ({}, {}, seed {})\n",
        worst->error,
        worst->limit,
        worst->tensor,
        worst->when,
        worst->seed
    );
    if (evaluation.status == Status::Ok) {
      fmt::print("deterministic  {}\n", evaluation.deterministic ? "yes" : "no");
    }
  }
  if (const auto median = median_time_ns(evaluation)) {
    fmt::print("time           {} a step (median)\n", format_time(*median));
  }
}

/// The files and the table of a timeline, or why there is none; as text or in `document`.
void report_timeline(
    const EvaluateOptions& options,
    const TimelineResponse& response,
    const TimelineTitle& title,
    double plain_ns,
    Json& document
) {
  const Outcome& outcome = response.outcome;
  if (outcome.status == Status::Ok) {
    write_timeline_files(options.timelines, response.timeline, title);
    document["timeline"] = timeline_document(response.timeline);
    document["timeline"]["files"] = options.timelines;
  } else {
    document["timeline"] = {
        {"status", std::string(status_name(outcome.status))}, {"detail", outcome.detail}};
  }
  if (options.json) {
    return;
  }
  if (outcome.status != Status::Ok) {
    fmt::print("\ntimeline       {}: {}\n", status_name(outcome.status), outcome.detail);
    return;
  }
  fmt::print(
      "\ntimeline of a step, from a profile build\n{}", timeline_table(response.timeline, plain_ns)
  );
  for (const std::string& file : options.timelines) {
    fmt::print(stderr, "whet: wrote {}\n", file);
  }
}

}  // namespace

int run_evaluate(const EvaluateOptions& options, const Environment& environment) {
  if (options.compile_only && !options.timelines.empty()) {
    throw UserError(
        "--timeline needs the kernel to run, which --compile-only rules out; leave one of them out"
    );
  }
  check_timeline_files(options.timelines);
  const WorkloadChoice workload =
      choose_workload(options.workload, parse_dims(options.dims), environment);
  const DeviceChoice device = options.compile_only
                                  ? choose_device(options.device, environment)
                                  : choose_present_device(options.device, environment);
  const SearchSpace space(workload.workload.step, device.limits);
  const Configuration configuration = choose_configuration(options.configuration, space);
  Evaluator evaluator(evaluator_options(workload, device, environment));
  Evaluation evaluation;
  if (options.compile_only) {
    evaluation = compiled_only(configuration, evaluator.compile(configuration));
  } else {
    evaluator.prepare();
    evaluation = evaluate(evaluator, configuration);
  }
  Json document{
      {"schema", "whet.evaluation/1"},
      {"workload", workload.name},
      {"key", workload.key},
      {"target", target_name(device.limits.target)},
      {"device", device.limits.name},
      {"evaluation", to_json(evaluation)}};
  if (!options.json) {
    print_text(evaluation, device.limits);
  }
  bool is_complete = evaluation.status == Status::Ok;
  if (is_complete && !options.timelines.empty()) {
    const TimelineResponse response = evaluator.timeline(configuration);
    const TimelineTitle title{
        .workload = workload.name,
        .device = evaluator.device(),
        .configuration = to_text(configuration)};
    report_timeline(options, response, title, median_time_ns(evaluation).value_or(0.0), document);
    is_complete = response.outcome.status == Status::Ok;
  }
  if (options.json) {
    fmt::print("{}\n", document.dump(2));
  }
  return is_complete ? 0 : 1;
}

}  // namespace whet
