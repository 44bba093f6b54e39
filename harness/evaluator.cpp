#include "harness/evaluator.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "harness/interleaved_measurement.hpp"

namespace whet {
namespace {

CompilePool::Options pool_options(const EvaluatorOptions& options) {
  return {
      .command = options.compile_command,
      .num_children = options.num_compilers,
      .deadline = options.compile.timeout + options.compile_grace,
      // The compilers and the measurement would share the cores.
      .only_while_waiting = options.limits.target == Target::Cpu};
}

ReferenceOptions reference_options(const EvaluatorOptions& options) {
  return {
      .command = options.reference_command,
      .workload = options.workload,
      .target = options.limits.target,
      .num_threads = options.num_threads,
      .device = options.device,
      .cache_folder = options.cache_folder,
      .tolerances = options.tolerances,
      .deadline = options.reference_deadline};
}

OpenRequest open_request(const EvaluatorOptions& options) {
  return {
      .target = options.limits.target,
      .device = options.device,
      .num_threads = options.num_threads,
      .workload = options.workload,
      .tolerances = options.tolerances};
}

}  // namespace

EvaluatorOptions make_evaluator_options(
    const std::filesystem::path& program_folder, const DeviceLimits& limits
) {
  EvaluatorOptions options;
  options.compile_command = {(program_folder / "whet-compile").string()};
  options.worker_command = {(program_folder / "whet-worker").string()};
  options.reference_command = {(program_folder / "whet-reference").string()};
  options.limits = limits;
  const bool is_gpu = limits.target == Target::Cuda;
  options.block.num_samples = is_gpu ? 50 : 10;
  options.block.min_sample_ns = is_gpu ? 0.0 : 1e6;
  return options;
}

Evaluator::Evaluator(EvaluatorOptions options)
    : options_(std::move(options)),
      workload_(
          parse_workload(options_.workload.text, options_.workload.name, options_.workload.dims)
      ),
      compilers_(pool_options(options_)) {}

Evaluator::~Evaluator() = default;

void Evaluator::prepare() {
  ReferenceBundles made = ensure_bundles(workload_, reference_options(options_));
  bundles_ = std::move(made.paths);
  libtorch_version_ = std::move(made.libtorch_version);
  device_ = worker().device();
}

int Evaluator::capacity() const {
  // While one is measured, the others are compiled or wait for their turn; on the CPU target the
  // two alternate, a round of compilers at a time.
  return options_.limits.target == Target::Cpu ? options_.num_compilers
                                               : options_.num_compilers + 2;
}

CompileRequest Evaluator::compile_request(const Configuration& configuration) const {
  return {
      .workload = options_.workload,
      .limits = options_.limits,
      .configuration = configuration,
      .options = options_.compile};
}

void Evaluator::submit(const Configuration& configuration) {
  under_way_.push_back(
      {.configuration = configuration, .ticket = compilers_.submit(compile_request(configuration))}
  );
}

Evaluation Evaluator::next() {
  WHET_CHECK(!under_way_.empty(), "no candidate is under way");
  const UnderWay oldest = std::move(under_way_.front());
  under_way_.pop_front();
  const CompileResponse compiled = compilers_.wait(oldest.ticket);
  Evaluation evaluation;
  evaluation.configuration = oldest.configuration;
  evaluation.status = compiled.status;
  evaluation.detail = compiled.detail;
  evaluation.source_sha256 = compiled.source_sha256;
  evaluation.compile_s = compiled.compile_s;
  evaluation.resources = compiled.resources;
  evaluation.paths = compiled.paths;
  if (compiled.status == Status::Ok) {
    artifacts_[oldest.configuration] = compiled;
    run_with_retry(compiled, evaluation);
  }
  return evaluation;
}

void Evaluator::cancel() {
  under_way_.clear();
  compilers_.cancel();
}

CompileResponse Evaluator::compile(const Configuration& configuration) {
  return compilers_.wait(compilers_.submit(compile_request(configuration)));
}

TimelineResponse Evaluator::timeline(const Configuration& configuration) {
  CompileRequest request = compile_request(configuration);
  request.profile = true;
  const CompileResponse compiled = compilers_.wait(compilers_.submit(request));
  TimelineResponse response;
  response.outcome = {.status = compiled.status, .detail = compiled.detail};
  if (response.outcome.status != Status::Ok) {
    return response;
  }
  constexpr std::int64_t kId = 0;
  response.outcome = start_worker().load(kId, compiled);
  if (response.outcome.status != Status::Ok) {
    return response;
  }
  TimelineRequest timeline{.id = kId, .bundle = bundles_.front(), .num_steps = options_.num_steps};
  if (options_.limits.target == Target::CudaEmulated) {
    timeline.num_launches = 1;  // each is slow, and like the others
  }
  return worker_->timeline(timeline);
}

CompileResponse Evaluator::artifact_of(const Configuration& configuration) {
  const auto known = artifacts_.find(configuration);
  // The cache may be emptied at any time.
  if (known != artifacts_.end() && std::filesystem::exists(known->second.artifact)) {
    return known->second;
  }
  CompileResponse compiled = compile(configuration);
  if (compiled.status != Status::Ok) {
    return compiled;
  }
  // A session that continues another has not validated it yet.
  Evaluation evaluation;
  run_with_retry(compiled, evaluation);
  compiled.status = evaluation.status;
  compiled.detail = evaluation.detail;
  if (compiled.status == Status::Ok) {
    artifacts_[configuration] = compiled;
  }
  return compiled;
}

WorkerClient& Evaluator::worker() {
  return worker_ != nullptr && worker_->is_usable() ? *worker_ : start_worker();
}

WorkerClient& Evaluator::start_worker() {
  // The device is given back before the next process asks for it.
  worker_.reset();
  worker_ = std::make_unique<WorkerClient>(
      options_.worker_command, open_request(options_), options_.worker_deadlines
  );
  ++num_workers_;
  return *worker_;
}

Outcome Evaluator::run_candidate(const CompileResponse& compiled, Evaluation& evaluation) {
  constexpr std::int64_t kId = 0;
  const Outcome loaded = worker().load(kId, compiled);
  if (loaded.status != Status::Ok) {
    return loaded;
  }
  const ValidateResponse validated = worker_->validate({.id = kId, .bundles = bundles_});
  evaluation.deterministic = validated.deterministic;
  evaluation.worst = validated.worst;
  if (validated.outcome.status != Status::Ok) {
    return validated.outcome;
  }
  if (options_.num_screen_blocks == 0) {
    return worker_->unload(kId);
  }
  const std::vector<std::int64_t> order(static_cast<std::size_t>(options_.num_screen_blocks), kId);
  const MeasureResponse measured = worker_->measure(
      {.order = order,
       .bundle = bundles_.front(),
       .num_steps = options_.num_steps,
       .plan = options_.block}
  );
  if (measured.outcome.status != Status::Ok) {
    return measured.outcome;
  }
  for (std::size_t i = 0; i < measured.blocks.size(); ++i) {
    evaluation.blocks.push_back(to_sample_block(
        measured.blocks[i], num_workers_ - 1, static_cast<std::int64_t>(i), "screen"
    ));
  }
  return worker_->unload(kId);
}

void Evaluator::run_with_retry(const CompileResponse& compiled, Evaluation& evaluation) {
  const Evaluation untouched = evaluation;
  Outcome outcome = run_candidate(compiled, evaluation);
  const bool is_fault = outcome.status == Status::Crashed || outcome.status == Status::TimedOut ||
                        outcome.status == Status::LaunchFailed ||
                        outcome.status == Status::OutOfMemory;
  if (is_fault) {
    evaluation = untouched;
    start_worker();
    outcome = run_candidate(compiled, evaluation);
  }
  evaluation.status = outcome.status;
  evaluation.detail = outcome.detail;
}

void Evaluator::keep_resident(const std::vector<Configuration>& candidates) {
  std::vector<CompileResponse> compiled;
  for (const Configuration& configuration : candidates) {
    compiled.push_back(artifact_of(configuration));
  }
  start_worker();
  resident_outcome_ = {};
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    resident_outcome_ = worker_->load(static_cast<std::int64_t>(i), compiled[i]);
    if (resident_outcome_.status != Status::Ok) {
      return;
    }
  }
}

std::variant<MeasuredBlock, Outcome> Evaluator::measure_resident(std::size_t position) {
  if (resident_outcome_.status != Status::Ok) {
    return resident_outcome_;
  }
  MeasureResponse measured = worker_->measure(
      {.order = {static_cast<std::int64_t>(position)},
       .bundle = bundles_.at(0),
       .num_steps = options_.num_steps,
       .plan = options_.block}
  );
  resident_outcome_ = measured.outcome;
  if (resident_outcome_.status != Status::Ok) {
    return resident_outcome_;
  }
  return measured.blocks.at(0);
}

InterleavedResult Evaluator::measure_interleaved(const InterleavedRequest& request) {
  std::vector<CompileResponse> compiled;
  for (const Configuration& configuration : request.candidates) {
    compiled.push_back(artifact_of(configuration));
  }
  const InterleavedSetup setup{
      .start_worker = [this]() -> WorkerClient& { return start_worker(); },
      .peers = peer_names(options_.limits.target),
      .start_peers =
          [this] {
            return std::make_unique<PeerClient>(
                reference_options(options_),
                options_.num_steps,
                options_.block,
                options_.worker_deadlines.measure_block
            );
          },
      .process = [this] { return num_workers_ - 1; },
      .bundle = bundles_.at(0),
      .num_steps = options_.num_steps,
      .plan = options_.block};
  return whet::measure_interleaved(setup, request, compiled);
}

}  // namespace whet
