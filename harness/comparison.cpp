#include "harness/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

/// An unrounded change this small beside what rounding makes of it is rounding's alone. f32 sums of
/// a million terms that cancel leave about 1e-4 of a term, f64 ones 1e-13: anything between will
/// do.
constexpr double kZeroShare = 1e-6;

/// A loss this far below the rms of all is judged as if it were there.
constexpr double kSmallestLossShare = 1e-3;

double from_base(const Check& check, std::size_t i, double value) {
  return check.base.empty() || !std::isfinite(check.base[i]) ? value : value - check.base[i];
}

/// Norm of the finite elements of a check's right answer (of its change, where there is a base) and
/// how many there are.
std::pair<double, std::size_t> norm_of(const Check& check, const std::vector<double>& values) {
  double squares = 0.0;
  std::size_t num_finite = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) {
      const double value = from_base(check, i, values[i]);
      squares += value * value;
      ++num_finite;
    }
  }
  return {std::sqrt(squares), num_finite};
}

double size_of(const Check& check, const std::vector<double>& values) {
  const auto [norm, num_finite] = norm_of(check, values);
  if (check.measure == Measure::Element && num_finite > 0) {
    return norm / std::sqrt(static_cast<double>(num_finite));
  }
  return norm;
}

double at(const Tolerances::Floor& floor, const std::string& when) {
  if (when == "step 1") {
    return floor.step1;
  }
  return when == "replay" ? floor.replay : floor.trajectory;
}

const Tolerances::Floor& floor_of(const Tolerances::Floors& floors, Measure measure) {
  switch (measure) {
    case Measure::Change:
      return floors.change;
    case Measure::Norm:
      return floors.output;
    case Measure::Element:
      return floors.element;
  }
  throw InternalError("unknown measure");
}

/// LibTorch's other ways to compute the same.
std::vector<const Trajectory*> others_of(const ReferenceBundle& bundle) {
  std::vector<const Trajectory*> others{&bundle.native};
  for (const Trajectory& order : bundle.orders) {
    others.push_back(&order);
  }
  return others;
}

const HostTensor& tensor_of(const Trajectory& trajectory, const Check& check) {
  const Snapshot& snapshot = trajectory.snapshots.at(check.snapshot_idx);
  return (check.is_state ? snapshot.state : snapshot.outputs).at(check.tensor_idx);
}

/// Whether state tensor `idx` does not change but by rounding: its unrounded change at the replay's
/// end is nothing beside what any implementation made of it.
std::vector<bool> find_unchanged(const Workload& workload, const ReferenceBundle& bundle) {
  const std::vector<int> steps = snapshot_steps(workload);
  const int replay = std::min(workload.validation.num_replay_steps, workload.validation.num_steps);
  const auto replay_idx =
      static_cast<std::size_t>(std::ranges::find(steps, replay) - steps.begin());
  std::vector<const Trajectory*> all = others_of(bundle);
  all.push_back(&bundle.reference);
  std::vector<bool> unchanged;
  for (std::size_t i = 0; i < bundle.initial_state.size(); ++i) {
    Check check{.snapshot_idx = replay_idx, .tensor_idx = i};
    check.base = to_doubles(bundle.initial_state[i]);
    double largest = 0.0;
    for (const Trajectory* trajectory : all) {
      largest = std::max(largest, size_of(check, to_doubles(tensor_of(*trajectory, check))));
    }
    unchanged.push_back(bundle.unrounded_change.at(i) <= kZeroShare * largest);
  }
  return unchanged;
}

/// The checks without sizes and limits.
std::vector<Check> list_checks(const Workload& workload, const ReferenceBundle& bundle) {
  const Program& step = workload.step;
  std::vector<Check> checks;
  for (std::size_t s = 0; s < bundle.reference.snapshots.size(); ++s) {
    const Snapshot& snapshot = bundle.reference.snapshots[s];
    Check check{.snapshot_idx = s, .when = when_of(workload, snapshot.step)};
    for (std::size_t i = 0; i < snapshot.state.size(); ++i) {
      check.tensor_idx = i;
      check.tensor = step.value(step.state[i].before).name;
      check.expected = to_doubles(snapshot.state[i]);
      check.base = to_doubles(bundle.initial_state[i]);
      checks.push_back(check);
    }
    check.is_state = false;
    check.base.clear();
    for (std::size_t i = 0; i < snapshot.outputs.size(); ++i) {
      check.tensor_idx = i;
      check.tensor = workload.output_names.at(i);
      check.expected = to_doubles(snapshot.outputs[i]);
      check.is_loss = step.loss == step.outputs[i];
      check.measure = Measure::Norm;
      checks.push_back(check);
      if (!check.is_loss) {
        check.measure = Measure::Element;
        checks.push_back(check);
      }
    }
  }
  return checks;
}

/// Errors of the other implementations, pooled by what they have in common with a check.
class ErrorPool {
 public:
  using Key = std::tuple<Measure, std::string, DType>;

  void add(const Key& key, double error) {
    auto& [squares, count] = sums_[key];
    squares += error * error;
    ++count;
  }
  double rms(const Key& key) const {
    const auto found = sums_.find(key);
    return found == sums_.end() ? 0.0 : std::sqrt(found->second.first / found->second.second);
  }

 private:
  std::map<Key, std::pair<double, double>> sums_;
};

bool is_exact(DType dtype) { return !is_compute_dtype(dtype) && dtype != DType::F64; }

/// Sets a check's size; where the right answer is zero, from the largest that others made of it.
void set_size(Check& check, const std::vector<const Trajectory*>& others, bool unchanged) {
  check.size = size_of(check, check.expected);
  check.is_zero = (unchanged || check.size == 0.0) && has_finite(check);
  if (check.is_zero) {
    for (const Trajectory* other : others) {
      check.size = std::max(check.size, size_of(check, to_doubles(tensor_of(*other, check))));
    }
  }
}

}  // namespace

bool has_finite(const Check& check) {
  return std::ranges::any_of(check.expected, [](double value) { return std::isfinite(value); });
}

Distance distance(const Check& check, const std::vector<double>& got) {
  WHET_CHECK(got.size() == check.expected.size(), "{}: {} elements", check.tensor, got.size());
  Distance result;
  double squares = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double expected = check.expected[i];
    if (expected == got[i] || (std::isnan(expected) && std::isnan(got[i]))) {
      continue;
    }
    if (check.size == 0.0 || !std::isfinite(expected) || !std::isfinite(got[i])) {
      return {.error = kUnlike, .worst_idx = i};
    }
    const double difference = std::abs(got[i] - expected);
    squares += difference * difference;
    if (difference > largest) {
      largest = difference;
      result.worst_idx = i;
    }
  }
  if (largest > 0.0) {
    const double total = check.measure == Measure::Element ? largest : std::sqrt(squares);
    result.error = std::min(total / check.size, kUnlike);
  }
  return result;
}

std::vector<Check> make_checks(
    const Workload& workload, const ReferenceBundle& bundle, const Tolerances& tolerances
) {
  const Tolerances::Floors& floors = floors_for(tolerances, workload.step);
  const std::vector<const Trajectory*> others = others_of(bundle);
  const std::vector<bool> unchanged = find_unchanged(workload, bundle);
  const LossLimits losses = make_loss_limits(workload, bundle, tolerances);
  std::vector<Check> checks = list_checks(workload, bundle);
  ErrorPool shared;
  std::vector<ErrorPool> own(checks.size());
  const auto key_of = [&](const Check& check) {
    return ErrorPool::Key{check.measure, check.when, tensor_of(bundle.reference, check).dtype};
  };
  for (std::size_t c = 0; c < checks.size(); ++c) {
    Check& check = checks[c];
    if (check.is_loss) {
      const int step = bundle.reference.snapshots[check.snapshot_idx].step;
      check.size = losses.sizes.at(static_cast<std::size_t>(step - 1));
      check.limit = losses.limits.at(static_cast<std::size_t>(step - 1));
      continue;
    }
    if (is_exact(tensor_of(bundle.reference, check).dtype)) {
      check.is_zero = size_of(check, check.expected) == 0.0;
      continue;
    }
    set_size(check, others, check.is_state && unchanged[check.tensor_idx]);
    for (const Trajectory* other : others) {
      const double error = distance(check, to_doubles(tensor_of(*other, check))).error;
      if (!check.is_zero && error < kUnlike) {
        shared.add(key_of(check), error);
        own[c].add(key_of(check), error);
      }
    }
  }
  for (std::size_t c = 0; c < checks.size(); ++c) {
    Check& check = checks[c];
    if (check.is_loss) {
      continue;
    }
    if (check.is_zero) {
      check.limit = check.size > 0.0 ? tolerances.factor : 0.0;
    } else if (!is_exact(tensor_of(bundle.reference, check).dtype)) {
      const double pooled = std::max(shared.rms(key_of(check)), own[c].rms(key_of(check)));
      check.limit =
          std::max(at(floor_of(floors, check.measure), check.when), tolerances.factor * pooled);
    }
  }
  return checks;
}

LossLimits make_loss_limits(
    const Workload& workload, const ReferenceBundle& bundle, const Tolerances& tolerances
) {
  const Program& step = workload.step;
  if (!step.loss || std::ranges::find(step.outputs, *step.loss) == step.outputs.end()) {
    return {};
  }
  const std::vector<double>& expected = bundle.reference.losses;
  const std::vector<const Trajectory*> others = others_of(bundle);
  double squares = 0.0;
  double num_finite = 0.0;
  for (const double loss : expected) {
    if (std::isfinite(loss)) {
      squares += loss * loss;
      num_finite += 1.0;
    }
  }
  const double rms = num_finite > 0.0 ? std::sqrt(squares / num_finite) : 0.0;
  const Tolerances::Floor& floor = floors_for(tolerances, step).loss;
  LossLimits result;
  double pooled = 0.0;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const double loss = std::abs(expected[t]);
    result.sizes.push_back(std::max({kSmallestLossShare * rms, std::sqrt(loss * rms), loss}));
    double sum = 0.0;
    double count = 0.0;
    for (const Trajectory* other : others) {
      const double error = loss_error(expected[t], other->losses.at(t), result.sizes[t]);
      if (error < kUnlike) {
        sum += error * error;
        count += 1.0;
      }
    }
    pooled = std::max(pooled, count > 0.0 ? std::sqrt(sum / count) : 0.0);
    const std::string when = when_of(workload, static_cast<int>(t) + 1);
    result.limits.push_back(std::max(at(floor, when), tolerances.factor * pooled));
  }
  return result;
}

double loss_error(double expected, double got, double size) {
  if (expected == got || (std::isnan(expected) && std::isnan(got))) {
    return 0.0;
  }
  if (size == 0.0 || !std::isfinite(expected) || !std::isfinite(got)) {
    return kUnlike;
  }
  return std::min(std::abs(got - expected) / size, kUnlike);
}

std::string when_of(const Workload& workload, int step) {
  if (step == 1) {
    return "step 1";
  }
  return step <= workload.validation.num_replay_steps ? "replay" : "trajectory";
}

}  // namespace whet
