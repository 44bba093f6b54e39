#include "harness/candidate_timeline.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "harness/stamped_launches.hpp"

namespace whet {
namespace {

/// Values of a first run: nothing may read outputs or workspace before writing them.
constexpr unsigned char kPoison = 0xff;

}  // namespace

TimelineResponse record_timeline(
    Executor& executor,
    ResidentCandidate& candidate,
    const TimelineRequest& request,
    const ReferenceBundle& bundle
) {
  WHET_CHECK(request.num_launches > 0, "a timeline of no launch");
  TimelineResponse response;
  const int stride = candidate.steps_per_launch();
  const int num_steps = (request.num_steps + stride - 1) / stride * stride;
  candidate.reset(bundle, kPoison);
  const std::unique_ptr<Replay> sequence = executor.record(candidate.launches(num_steps));
  // As many again to get warm: these are timed as a whole.
  const double warm_ns = executor.time_replays_ns(*sequence, request.num_launches);
  std::vector<StampWords> launches;
  for (int i = 0; i < request.num_launches; ++i) {
    executor.replay(*sequence);
    if (const std::optional<std::uint32_t> place = candidate.hang_place()) {
      response.outcome = {
          .status = Status::BarrierHang,
          .detail =
              fmt::format("a block of the profile build gave up waiting at barrier {}", *place),
          .must_restart = true};
      return response;
    }
    launches.push_back(candidate.stamps());
  }
  response.timeline = make_timeline(candidate.plan(), launches, executor.conditions().clock_mhz);
  response.timeline.step_time_ns = warm_ns / request.num_launches / num_steps;
  return response;
}

}  // namespace whet
