#include "harness/worker_client.hpp"

#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

Status status_of(const ChildFault& fault) {
  return fault.kind == ChildFault::Kind::TimedOut ? Status::TimedOut : Status::Crashed;
}

Outcome& outcome_of(Outcome& outcome) { return outcome; }
Outcome& outcome_of(ValidateResponse& response) { return response.outcome; }
Outcome& outcome_of(MeasureResponse& response) { return response.outcome; }
Outcome& outcome_of(TimelineResponse& response) { return response.outcome; }

}  // namespace

WorkerClient::WorkerClient(
    const std::vector<std::string>& command,
    const OpenRequest& request,
    const WorkerDeadlines& deadlines
)
    : deadlines_(deadlines), child_(start_of(command)) {
  std::variant<DescribeResponse, ChildFault> opened =
      ask<DescribeResponse>(child_, request, deadlines.open);
  if (const auto* fault = std::get_if<ChildFault>(&opened)) {
    throw EnvironmentError(fmt::format(
        "the worker for {} did not start: {}", target_name(request.target), fault->detail
    ));
  }
  device_ = std::get<DescribeResponse>(opened).device;
}

template <typename Answer, typename Request>
Answer WorkerClient::exchange(const Request& request, std::chrono::milliseconds timeout) {
  Answer answer;
  try {
    std::variant<Answer, ChildFault> got = ask<Answer>(child_, request, timeout);
    if (const auto* fault = std::get_if<ChildFault>(&got)) {
      outcome_of(answer) = {
          .status = status_of(*fault), .detail = fault->detail, .must_restart = true};
    } else {
      answer = std::get<Answer>(std::move(got));
    }
  } catch (const InternalError& error) {
    // Our bug, or what the candidate made of the worker: it costs the candidate, not the run.
    outcome_of(answer) = {
        .status = Status::Crashed,
        .detail = std::string("the worker failed: ") + error.what(),
        .must_restart = true};
  }
  is_usable_ = is_usable_ && !outcome_of(answer).must_restart;
  return answer;
}

Outcome WorkerClient::load(const LoadRequest& request) {
  return exchange<Outcome>(request, deadlines_.load);
}

Outcome WorkerClient::load(std::int64_t id, const CompileResponse& compiled) {
  return load({.id = id, .artifact = compiled.artifact, .plan = compiled.plan});
}

ValidateResponse WorkerClient::validate(const ValidateRequest& request) {
  return exchange<ValidateResponse>(request, deadlines_.validate);
}

MeasureResponse WorkerClient::measure(const MeasureRequest& request) {
  const auto num_blocks = static_cast<std::int64_t>(request.order.size());
  return exchange<MeasureResponse>(request, deadlines_.measure_block * num_blocks);
}

TimelineResponse WorkerClient::timeline(const TimelineRequest& request) {
  return exchange<TimelineResponse>(request, deadlines_.timeline);
}

Outcome WorkerClient::unload(std::int64_t id) {
  return exchange<Outcome>(UnloadRequest{.id = id}, deadlines_.load);
}

}  // namespace whet
