#include "harness/candidate_timing.hpp"

#include "base/error.hpp"
#include "timing/block.hpp"

namespace whet {
namespace {

/// Values of a first run: nothing may read outputs or workspace before writing them.
constexpr unsigned char kPoison = 0xff;

/// A recorded replay as the block timer sees it.
class ReplaySequence final : public TimedSequence {
 public:
  ReplaySequence(Executor& executor, Replay& replay) : executor_(executor), replay_(replay) {}
  double time_ns(int count) override { return executor_.time_replays_ns(replay_, count); }
  TimingConditions conditions() override {
    const Conditions now = executor_.conditions();
    return {
        .clock_mhz = now.clock_mhz, .temperature_c = now.temperature_c, .throttled = now.throttled};
  }

 private:
  Executor& executor_;
  Replay& replay_;
};

MeasuredBlock to_measured(std::int64_t id, int num_steps, const TimedBlock& timed, bool steady) {
  MeasuredBlock block{
      .id = id,
      .num_steps = std::int64_t{num_steps} * timed.num_repetitions,
      .num_dropped = timed.num_dropped,
      .steady = steady,
      .samples = {}};
  for (const TimedSample& sample : timed.samples) {
    block.samples.push_back(
        {.time_ns = sample.time_ns / num_steps,
         .clock_mhz = sample.conditions.clock_mhz,
         .temperature_c = sample.conditions.temperature_c,
         .throttled = sample.conditions.throttled}
    );
  }
  return block;
}

}  // namespace

CandidateTiming::Prepared& CandidateTiming::prepare(
    ResidentCandidate& candidate,
    std::int64_t id,
    const MeasureRequest& request,
    const ReferenceBundle& bundle
) {
  const int stride = candidate.steps_per_launch();
  const int num_steps = (request.num_steps + stride - 1) / stride * stride;
  const auto known = prepared_.find(id);
  if (known != prepared_.end() && known->second.num_steps == num_steps &&
      known->second.seed == bundle.seed) {
    return known->second;
  }
  prepared_.erase(id);
  candidate.reset(bundle, kPoison);
  return prepared_[id] = Prepared{
             .replay = executor_.record(candidate.launches(num_steps)),
             .num_steps = num_steps,
             .seed = bundle.seed};
}

MeasureResponse CandidateTiming::measure(
    const ResidentCandidates& candidates,
    const MeasureRequest& request,
    const ReferenceBundle& bundle
) {
  MeasureResponse response;
  for (const std::int64_t id : request.order) {
    current_id_ = id;
    const auto found = candidates.find(id);
    WHET_CHECK(found != candidates.end(), "candidate {} is not loaded", id);
    ResidentCandidate& candidate = *found->second;

    const bool is_cold = !prepared_.contains(id);
    const Prepared& prepared = prepare(candidate, id, request, bundle);
    ReplaySequence sequence(executor_, *prepared.replay);
    const bool steady = !is_cold || warm_up(sequence, request.plan);
    candidate.restore_state();
    const TimedBlock timed = measure_block(sequence, request.plan);
    if (const std::optional<std::uint32_t> place = candidate.hang_place()) {
      response.fault_id = id;
      response.outcome = {
          .status = Status::BarrierHang,
          .detail = fmt::format("a block gave up waiting at barrier {} while timed", *place),
          .must_restart = true};
      return response;
    }
    response.blocks.push_back(to_measured(id, prepared.num_steps, timed, steady));
  }
  return response;
}

}  // namespace whet
