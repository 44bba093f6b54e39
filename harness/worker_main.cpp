// whet-worker: holds a device and runs candidates on it. Only `validate` meets unproven code; what
// it breaks ends with this process. Requests and answers: harness/messages.hpp.

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "harness/bundle_cache.hpp"
#include "harness/candidate_timeline.hpp"
#include "harness/candidate_timing.hpp"
#include "harness/candidate_validation.hpp"
#include "harness/child_program.hpp"
#include "harness/messages.hpp"
#include "harness/resident_candidate.hpp"
#include "harness/validation.hpp"
#include "ir/workload.hpp"
#include "jit/executor.hpp"

namespace whet {
namespace {

std::unique_ptr<Executor> make_executor(const OpenRequest& request) {
  switch (request.target) {
    case Target::Cpu:
      return make_cpu_executor(request.num_threads);
    case Target::Cuda:
      return make_cuda_executor(request.device);
    case Target::CudaEmulated:
      break;
  }
  return make_emulated_executor({});
}

/// What `work` gives, or how the device's fault or our own bug ended the candidate.
Outcome guarded(const std::function<Outcome()>& work) {
  try {
    return work();
  } catch (const DeviceFault& fault) {
    return {.status = fault.status, .detail = fault.what(), .must_restart = true};
  } catch (const InternalError& error) {
    return {
        .status = Status::LaunchFailed,
        .detail = std::string("our bug: ") + error.what(),
        .must_restart = true};
  }
}

class Worker {
 public:
  explicit Worker(const OpenRequest& request)
      : workload_(
            parse_workload(request.workload.text, request.workload.name, request.workload.dims)
        ),
        tolerances_(Tolerances::load(request.tolerances)),
        executor_(make_executor(request)),
        bundles_(workload_),
        timing_(*executor_) {}

  DescribeResponse describe() const {
    DescribeResponse response{.device = executor_->description(), .loaded = {}};
    for (const auto& [id, candidate] : candidates_) {
      response.loaded.push_back(id);
    }
    return response;
  }

  Outcome load(const LoadRequest& request) {
    return guarded([&] {
      unload({.id = request.id});
      candidates_[request.id] = std::make_unique<ResidentCandidate>(
          *executor_, workload_, request.artifact, request.plan
      );
      return Outcome{};
    });
  }

  ValidateResponse validate(const ValidateRequest& request) {
    ValidateResponse response;
    const Outcome outcome = guarded([&] {
      timing_.forget(request.id);
      response = validate_candidate(
          *executor_, workload_, candidate(request.id), bundles_.get(request.bundles), tolerances_
      );
      return response.outcome;
    });
    response.outcome = outcome;
    return response;
  }

  MeasureResponse measure(const MeasureRequest& request) {
    MeasureResponse response;
    const Outcome outcome = guarded([&] {
      response = timing_.measure(candidates_, request, *bundles_.get({request.bundle}).front());
      return response.outcome;
    });
    if (outcome.status != Status::Ok && response.fault_id < 0) {
      response.fault_id = timing_.current_id();
    }
    response.outcome = outcome;
    return response;
  }

  TimelineResponse timeline(const TimelineRequest& request) {
    TimelineResponse response;
    const Outcome outcome = guarded([&] {
      timing_.forget(request.id);
      response = record_timeline(
          *executor_, candidate(request.id), request, *bundles_.get({request.bundle}).front()
      );
      return response.outcome;
    });
    response.outcome = outcome;
    return response;
  }

  Outcome unload(const UnloadRequest& request) {
    timing_.forget(request.id);
    candidates_.erase(request.id);
    return {};
  }

 private:
  ResidentCandidate& candidate(std::int64_t id) {
    const auto found = candidates_.find(id);
    WHET_CHECK(found != candidates_.end(), "candidate {} is not loaded", id);
    return *found->second;
  }

  Workload workload_;
  Tolerances tolerances_;
  std::unique_ptr<Executor> executor_;
  BundleCache bundles_;
  ResidentCandidates candidates_;
  CandidateTiming timing_;
};

/// Finds the request's handler; all but `open` need an open worker.
Message dispatch(std::optional<Worker>& worker, const Message& message) {
  if (message.kind == OpenRequest::kKind) {
    worker.reset();
    worker.emplace(decode<OpenRequest>(message));
    return encode(worker->describe());
  }
  if (!worker) {
    throw EnvironmentError(fmt::format("'{}' came before 'open'", message.kind));
  }
  if (message.kind == DescribeRequest::kKind) {
    return encode(worker->describe());
  }
  if (message.kind == LoadRequest::kKind) {
    return encode(worker->load(decode<LoadRequest>(message)));
  }
  if (message.kind == ValidateRequest::kKind) {
    return encode(worker->validate(decode<ValidateRequest>(message)));
  }
  if (message.kind == MeasureRequest::kKind) {
    return encode(worker->measure(decode<MeasureRequest>(message)));
  }
  if (message.kind == TimelineRequest::kKind) {
    return encode(worker->timeline(decode<TimelineRequest>(message)));
  }
  if (message.kind == UnloadRequest::kKind) {
    return encode(worker->unload(decode<UnloadRequest>(message)));
  }
  throw EnvironmentError(fmt::format("unknown request '{}'", message.kind));
}

}  // namespace
}  // namespace whet

int main() {
  std::optional<whet::Worker> worker;
  return whet::serve_requests("whet-worker", [&worker](const whet::Message& message) {
    return whet::dispatch(worker, message);
  });
}
