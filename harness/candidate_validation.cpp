#include "harness/candidate_validation.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "base/error.hpp"

namespace whet {
namespace {

// NaN in every floating type and -1 in the integers; then a large finite number. What a kernel
// reads before it was written differs between the two, so the runs differ.
constexpr unsigned char kFirstPoison = 0xff;
constexpr unsigned char kSecondPoison = 0x7b;

/// Why a run cannot be trusted, whatever its numbers say.
struct RunFault {
  Status status = Status::WrongResult;
  std::string detail;
};

struct Run {
  Trajectory trajectory;
  std::optional<RunFault> fault;
};

std::optional<RunFault> find_hang(ResidentCandidate& candidate, const std::string& when) {
  const std::optional<std::uint32_t> place = candidate.hang_place();
  if (!place) {
    return std::nullopt;
  }
  return RunFault{
      Status::BarrierHang,
      fmt::format("a block gave up waiting at barrier {} in {}", *place, when)};
}

std::optional<RunFault> find_damage(const ResidentCandidate& candidate, const std::string& when) {
  const std::optional<std::string> damage = candidate.damage();
  if (!damage) {
    return std::nullopt;
  }
  return RunFault{Status::WrongResult, *damage + " in " + when};
}

/// The first `num_steps` steps from the start, one launch at a time, with snapshots where a launch
/// ends at one of `snapshot_steps`.
Run run_launches(
    ResidentCandidate& candidate, int num_steps, const std::vector<int>& snapshot_steps
) {
  Run run;
  const int stride = candidate.steps_per_launch();
  run.trajectory.steps_per_launch = stride;
  for (int step = 0; step < num_steps; step += stride) {
    candidate.launch(step);
    const int done = step + stride;
    if ((run.fault = find_hang(candidate, fmt::format("step {}", done)))) {
      return run;
    }
    const std::vector<double> losses = candidate.last_losses();
    run.trajectory.losses.insert(run.trajectory.losses.end(), losses.begin(), losses.end());
    if (std::find(snapshot_steps.begin(), snapshot_steps.end(), done) != snapshot_steps.end()) {
      run.trajectory.snapshots.push_back(candidate.snapshot(done));
    }
  }
  run.fault = find_damage(candidate, fmt::format("{} launches", num_steps / stride));
  return run;
}

/// The first `num_steps` steps as a recorded replay, with a snapshot at their end.
Run run_replay(Executor& executor, ResidentCandidate& candidate, int num_steps) {
  Run run;
  run.trajectory.steps_per_launch = candidate.steps_per_launch();
  const std::unique_ptr<Replay> replay = executor.record(candidate.launches(num_steps));
  executor.replay(*replay);
  executor.synchronize();
  const std::string when = fmt::format("a replay of {} steps", num_steps);
  run.fault = find_hang(candidate, when);
  if (!run.fault) {
    run.trajectory.snapshots.push_back(candidate.snapshot(num_steps));
    run.fault = find_damage(candidate, when);
  }
  return run;
}

const Snapshot* find_snapshot(const Trajectory& trajectory, int step) {
  for (const Snapshot& snapshot : trajectory.snapshots) {
    if (snapshot.step == step) {
      return &snapshot;
    }
  }
  return nullptr;
}

/// The name of a tensor whose bits differ between two snapshots.
std::optional<std::string> find_difference(
    const Workload& workload, const Snapshot& a, const Snapshot& b
) {
  const Program& step = workload.step;
  for (std::size_t i = 0; i < a.state.size(); ++i) {
    if (a.state[i] != b.state[i]) {
      return fmt::format("state '{}'", step.value(step.state[i].before).name);
    }
  }
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    if (a.outputs[i] != b.outputs[i]) {
      return fmt::format("output '{}'", step.value(step.outputs[i]).name);
    }
  }
  return std::nullopt;
}

/// Whether `again`, the beginning of `first` once more, has the same bits.
bool repeats(const Workload& workload, const Trajectory& first, const Trajectory& again) {
  for (const Snapshot& snapshot : again.snapshots) {
    const Snapshot* before = find_snapshot(first, snapshot.step);
    if (before == nullptr || find_difference(workload, *before, snapshot)) {
      return false;
    }
  }
  // NaN is a loss like any other here, and unequal to itself: two NaN make a run not repeat, and
  // the comparison with the reference decides.
  return std::equal(again.losses.begin(), again.losses.end(), first.losses.begin());
}

/// The trajectory `first` with the replay's end in the place of its own.
Trajectory with_snapshot(Trajectory first, const Snapshot& snapshot) {
  for (Snapshot& candidate : first.snapshots) {
    if (candidate.step == snapshot.step) {
      candidate = snapshot;
    }
  }
  return first;
}

void keep_worst(std::optional<TensorError>& worst, const std::optional<TensorError>& other) {
  const auto ratio = [](const TensorError& error) {
    if (error.error <= error.limit) {
      return error.limit > 0.0 ? error.error / error.limit : 0.0;
    }
    // A limit of zero and an error that is no number both mean "as bad as can be".
    const double value = error.error / error.limit;
    return value >= 1.0 ? value : std::numeric_limits<double>::infinity();
  };
  if (other && (!worst || ratio(*other) > ratio(*worst))) {
    worst = other;
  }
}

/// What one seed says.
struct SeedVerdict {
  std::optional<RunFault> fault;
  bool deterministic = false;
  std::optional<TensorError> worst;
};

/// The replay's end against the launches': bit by bit where the candidate repeats itself, else
/// against the reference with the reference's tolerance.
std::optional<RunFault> check_replay(
    const Workload& workload,
    const ReferenceBundle& bundle,
    const Tolerances& tolerances,
    const Trajectory& launches,
    bool deterministic,
    const Snapshot& replayed
) {
  if (deterministic) {
    const Snapshot* launched = find_snapshot(launches, replayed.step);
    WHET_CHECK(launched != nullptr, "no snapshot after step {}", replayed.step);
    const std::optional<std::string> difference = find_difference(workload, *launched, replayed);
    if (!difference) {
      return std::nullopt;
    }
    return RunFault{
        Status::WrongResult,
        fmt::format(
            "{} differs after {} steps between single launches and a recorded replay",
            *difference,
            replayed.step
        )};
  }
  const ValidationResult result =
      compare(workload, bundle, with_snapshot(launches, replayed), tolerances);
  if (result.passed) {
    return std::nullopt;
  }
  return RunFault{Status::WrongResult, "recorded replay: " + result.detail};
}

SeedVerdict validate_seed(
    Executor& executor,
    const Workload& workload,
    ResidentCandidate& candidate,
    const ReferenceBundle& bundle,
    const Tolerances& tolerances
) {
  const int num_replay_steps = workload.validation.num_replay_steps;
  candidate.reset(bundle, kFirstPoison);
  const Run first =
      run_launches(candidate, workload.validation.num_steps, snapshot_steps(workload));
  if (first.fault) {
    return {.fault = first.fault, .deterministic = false, .worst = {}};
  }
  const ValidationResult result = compare(workload, bundle, first.trajectory, tolerances);
  SeedVerdict verdict{.fault = {}, .deterministic = false, .worst = result.worst};
  if (!result.passed) {
    verdict.fault = RunFault{Status::WrongResult, result.detail};
    return verdict;
  }

  candidate.reset(bundle, kSecondPoison);
  const Run again = run_launches(candidate, num_replay_steps, snapshot_steps(workload));
  if (again.fault) {
    verdict.fault = again.fault;
    return verdict;
  }
  verdict.deterministic = repeats(workload, first.trajectory, again.trajectory);

  candidate.reset(bundle, kFirstPoison);
  const Run replay = run_replay(executor, candidate, num_replay_steps);
  verdict.fault = replay.fault ? replay.fault
                               : check_replay(
                                     workload,
                                     bundle,
                                     tolerances,
                                     first.trajectory,
                                     verdict.deterministic,
                                     replay.trajectory.snapshots.front()
                                 );
  return verdict;
}

}  // namespace

ValidateResponse validate_candidate(
    Executor& executor,
    const Workload& workload,
    ResidentCandidate& candidate,
    const std::vector<const ReferenceBundle*>& bundles,
    const Tolerances& tolerances
) {
  ValidateResponse response;
  response.deterministic = true;
  for (const ReferenceBundle* bundle : bundles) {
    const SeedVerdict verdict = validate_seed(executor, workload, candidate, *bundle, tolerances);
    keep_worst(response.worst, verdict.worst);
    response.deterministic = response.deterministic && verdict.deterministic;
    if (verdict.fault) {
      response.deterministic = false;
      response.outcome = {
          .status = verdict.fault->status,
          .detail = fmt::format("{} (seed {})", verdict.fault->detail, bundle->seed),
          // A kernel that wrote where it must not, or whose blocks left a barrier, may have hit
          // more.
          .must_restart = true};
      return response;
    }
  }
  return response;
}

}  // namespace whet
