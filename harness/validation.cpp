#include "harness/validation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "harness/comparison.hpp"

namespace whet {
namespace {

double ratio(const TensorError& error) {
  if (error.limit > 0.0) {
    return error.error / error.limit;
  }
  return error.error > 0.0 ? kUnlike : 0.0;
}

bool is_worse(const TensorError& a, const TensorError& b) { return ratio(a) > ratio(b); }

/// "[3, 17]" for a flat row-major index.
std::string index_text(std::size_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(flat);
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = rest % shape[d];
    rest /= shape[d];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

const Snapshot& snapshot_at(const Trajectory& candidate, int step) {
  const auto found = std::ranges::find(candidate.snapshots, step, &Snapshot::step);
  WHET_CHECK(found != candidate.snapshots.end(), "the candidate has no snapshot of step {}", step);
  return *found;
}

const HostTensor& candidate_tensor(const Snapshot& snapshot, const Check& check) {
  return (check.is_state ? snapshot.state : snapshot.outputs).at(check.tensor_idx);
}

std::string describe_value(const Check& check, std::size_t i, double value) {
  if (check.base.empty()) {
    return fmt::format("{:.9g}", value);
  }
  return fmt::format("{:.9g} (change {:.4g})", value, value - check.base[i]);
}

/// How far off, and the worst element.
std::string describe_error(
    const Check& check, const HostTensor& got, const Distance& distance, const TensorError& error
) {
  const char* what = check.measure == Measure::Change ? "change"
                     : check.measure == Measure::Norm ? "norm"
                                                      : "largest element";
  const std::string amount = distance.error < kUnlike
                                 ? fmt::format("{} is off by {:.3g}", what, distance.error)
                                 : "other values where only the same will do";
  if (got.bytes.empty()) {
    return fmt::format("{} at {}: {}", check.tensor, error.when, amount);
  }
  const std::size_t i = distance.worst_idx;
  return fmt::format(
      "{} at {}: {}, limit {:.3g}; {}: expected {}, got {}",
      check.tensor,
      error.when,
      amount,
      check.limit,
      index_text(i, got.shape),
      describe_value(check, i, check.expected[i]),
      describe_value(check, i, to_doubles(got)[i])
  );
}

/// Collects errors and the description of the worst.
class Verdict {
 public:
  explicit Verdict(std::uint64_t seed) : seed_(seed) {}

  /// `describe` says what is wrong; called only for what is worst so far and above its limit.
  template <typename Describe>
  void add(TensorError error, Describe&& describe) {
    error.seed = seed_;
    if (!result_.worst || is_worse(error, *result_.worst)) {
      result_.worst = error;
      result_.detail = error.error > error.limit ? describe(error) : std::string{};
    }
    result_.errors.push_back(std::move(error));
  }
  ValidationResult finish(bool all_nan) {
    result_.passed = std::ranges::all_of(result_.errors, [](const TensorError& error) {
      return error.error <= error.limit;
    });
    if (result_.passed && all_nan) {
      result_.detail = "every value compared was NaN or infinite";
    }
    return std::move(result_);
  }

 private:
  std::uint64_t seed_;
  ValidationResult result_;
};

void compare_losses(
    const Workload& workload,
    const std::vector<double>& expected,
    const std::vector<double>& got,
    const LossLimits& limits,
    Verdict& verdict
) {
  if (limits.limits.empty()) {
    return;
  }
  WHET_CHECK(got.size() == expected.size(), "{} losses for {} steps", got.size(), expected.size());
  const std::string& name = workload.step.value(*workload.step.loss).name;
  std::size_t begin = 0;
  while (begin < expected.size()) {
    // The worst step of the stretch that `when` names.
    const std::string when = when_of(workload, static_cast<int>(begin) + 1);
    std::size_t end = begin;
    std::size_t worst_idx = begin;
    TensorError worst;
    for (; end < expected.size() && when_of(workload, static_cast<int>(end) + 1) == when; ++end) {
      TensorError error{
          .tensor = name,
          .when = when,
          .error = loss_error(expected[end], got[end], limits.sizes[end]),
          .limit = limits.limits[end]};
      if (end == begin || is_worse(error, worst)) {
        worst = std::move(error);
        worst_idx = end;
      }
    }
    verdict.add(worst, [&](const TensorError& error) {
      return fmt::format(
          "{} of step {}: off by {:.3g}, limit {:.3g}; expected {:.9g}, got {:.9g}",
          error.tensor,
          worst_idx + 1,
          error.error,
          error.limit,
          expected[worst_idx],
          got[worst_idx]
      );
    });
    begin = end;
  }
}

/// Wrong answers that a bundle must refuse.
struct Probe {
  const char* name;
  std::vector<double> values;
};

std::vector<Probe> state_probes(const Check& check, const ReferenceBundle& bundle) {
  std::vector<double> half = check.expected;
  for (std::size_t i = 0; i < half.size(); ++i) {
    if (std::isfinite(half[i]) && std::isfinite(check.base[i])) {
      half[i] = check.base[i] + 0.5 * (half[i] - check.base[i]);
    }
  }
  std::vector<Probe> probes{
      {"zeros", std::vector<double>(check.expected.size(), 0.0)},
      {"the initial state", check.base},
      {"half the change", std::move(half)},
  };
  // Later on a step is a small part of the change; the replay's end shows whether updates get lost.
  const Snapshot& snapshot = bundle.reference.snapshots.at(check.snapshot_idx);
  if (check.when == "replay") {
    probes.push_back(
        {"the previous step's state", to_doubles(snapshot.previous_state.at(check.tensor_idx))}
    );
  }
  return probes;
}

std::vector<Probe> output_probes(const Check& check) {
  std::vector<double> half = check.expected;
  for (double& value : half) {
    value *= std::isfinite(value) ? 0.5 : 1.0;
  }
  return {
      {"zeros", std::vector<double>(check.expected.size(), 0.0)},
      {"half the values", std::move(half)},
  };
}

bool is_same_tensor(const Check& a, const Check& b) {
  return a.snapshot_idx == b.snapshot_idx && a.is_state == b.is_state &&
         a.tensor_idx == b.tensor_idx;
}

/// The probe that passes every check of the tensor that `checks[first]` is about, if one does.
std::optional<std::string> passing_probe(
    const std::vector<Check>& checks, std::size_t first, const ReferenceBundle& bundle
) {
  const Check& check = checks[first];
  for (const Probe& probe : check.is_state ? state_probes(check, bundle) : output_probes(check)) {
    double limit = 0.0;
    bool passes = true;
    for (std::size_t c = first; c < checks.size() && is_same_tensor(checks[c], check); ++c) {
      passes = passes && distance(checks[c], probe.values).error <= checks[c].limit;
      limit = std::max(limit, checks[c].limit);
    }
    if (passes) {
      return fmt::format(
          "{} would pass for {} at {}, whose limit is {:.3g}",
          probe.name,
          check.tensor,
          check.when,
          limit
      );
    }
  }
  return std::nullopt;
}

/// A state tensor that the steps update, though no compared value of it shows that.
std::optional<std::string> lost_update(
    const std::vector<Check>& checks, const ReferenceBundle& bundle
) {
  for (std::size_t i = 0; i < bundle.unrounded_change.size(); ++i) {
    std::string name;
    bool changes = false;
    for (const Check& check : checks) {
      if (check.is_state && check.tensor_idx == i) {
        name = check.tensor;
        changes = changes || !has_finite(check) || check.expected != check.base;
      }
    }
    if (!changes && bundle.unrounded_change[i] > 0.0) {
      return fmt::format(
          "the update of {} is lost to rounding: its change of {:.3g} in all leaves every {} value "
          "as it "
          "was; raise the learning rate, or keep the state in more precision",
          name,
          bundle.unrounded_change[i],
          dtype_name(bundle.initial_state[i].dtype)
      );
    }
  }
  return std::nullopt;
}

/// Whether losses that are half, zero or one step late pass.
std::optional<std::string> passing_losses(
    const std::vector<double>& expected, const LossLimits& limits
) {
  const auto passes = [&](auto&& wrong) {
    bool any_finite = false;
    for (std::size_t t = 0; t < limits.limits.size(); ++t) {
      any_finite = any_finite || std::isfinite(expected[t]);
      if (loss_error(expected[t], wrong(t), limits.sizes[t]) > limits.limits[t]) {
        return false;
      }
    }
    return any_finite;
  };
  if (passes([](std::size_t) { return 0.0; })) {
    return "zeros would pass for the loss";
  }
  if (passes([&](std::size_t t) { return 0.5 * expected[t]; })) {
    return "half the values would pass for the loss";
  }
  if (expected.size() > 1 && passes([&](std::size_t t) { return expected[t == 0 ? 0 : t - 1]; })) {
    return "the previous step's loss would pass at every step; use more batches or a larger "
           "learning rate";
  }
  return std::nullopt;
}

}  // namespace

ValidationResult compare(
    const Workload& workload,
    const ReferenceBundle& bundle,
    const Trajectory& candidate,
    const Tolerances& tolerances
) {
  Verdict verdict(bundle.seed);
  bool all_nan = true;
  bool any = false;
  for (const Check& check : make_checks(workload, bundle, tolerances)) {
    const int step = bundle.reference.snapshots[check.snapshot_idx].step;
    if (step % candidate.steps_per_launch != 0) {
      continue;
    }
    any = true;
    all_nan = all_nan && !has_finite(check) && !check.expected.empty();
    const HostTensor& got = candidate_tensor(snapshot_at(candidate, step), check);
    const Distance off = distance(check, to_doubles(got));
    TensorError error{
        .tensor = check.tensor + (check.measure == Measure::Element ? " (element)" : ""),
        .when = check.when,
        .error = off.error,
        .limit = check.limit};
    verdict.add(std::move(error), [&](const TensorError& worst) {
      return describe_error(check, got, off, worst);
    });
  }
  const LossLimits limits = make_loss_limits(workload, bundle, tolerances);
  compare_losses(workload, bundle.reference.losses, candidate.losses, limits, verdict);
  WHET_CHECK(
      any || workload.step.state.size() + workload.step.outputs.size() == 0,
      "{} steps a launch meet none of the snapshots",
      candidate.steps_per_launch
  );
  return verdict.finish(any && all_nan);
}

std::optional<std::string> why_powerless(
    const Workload& workload, const ReferenceBundle& bundle, const Tolerances& tolerances
) {
  const std::vector<Check> checks = make_checks(workload, bundle, tolerances);
  if (std::optional<std::string> reason = lost_update(checks, bundle)) {
    return reason;
  }
  const LossLimits losses = make_loss_limits(workload, bundle, tolerances);
  bool has_power = !losses.limits.empty();
  for (std::size_t c = 0; c < checks.size(); ++c) {
    const Check& check = checks[c];
    const bool first = c == 0 || !is_same_tensor(checks[c - 1], check);
    if (!first || check.is_zero || check.is_loss || check.expected.empty()) {
      continue;  // the losses are looked at together, below
    }
    has_power = true;
    if (!has_finite(check)) {
      continue;  // NaN or infinity everywhere: nothing but the same passes
    }
    if (std::optional<std::string> reason = passing_probe(checks, c, bundle)) {
      return reason;
    }
  }
  if (!has_power) {
    return "nothing that is compared differs from zero or from the initial state";
  }
  return passing_losses(bundle.reference.losses, losses);
}

}  // namespace whet
