#include "harness/validation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace whet {
namespace {

TensorDesc desc(std::string name, DType dtype, std::vector<std::int64_t> shape) {
  TensorDesc tensor{
      .name = std::move(name), .shape = std::move(shape), .strides = {}, .dtype = dtype};
  tensor.strides = contiguous_strides(tensor.shape);
  return tensor;
}

constexpr int kNumSteps = 40;

/// Two state tensors of one shape, an output and a loss; what the ops are does not matter here.
Workload make_workload(DType state_dtype = DType::F32) {
  Workload workload;
  Program& step = workload.step;
  step.values = {
      desc("w", state_dtype, {4, 3}),
      desc("b", state_dtype, {4, 3}),
      desc("y", DType::F32, {2, 3}),
      desc("loss", DType::F32, {})};
  step.state = {{.before = 0, .after = 0}, {.before = 1, .after = 1}};
  step.outputs = {2, 3};
  step.loss = 3;
  workload.output_names = {"y", "loss"};
  workload.validation.num_steps = kNumSteps;
  workload.validation.num_replay_steps = 20;
  return workload;
}

/// A number near 1 that differs from place to place.
double varied(std::size_t i) { return 1.0 + 0.5 * std::sin(static_cast<double>(7 * i + 3)); }

/// Value of element i of tensor t (0: w, 1: b) after `step` steps; b starts at zero.
double state_value(std::size_t t, std::size_t i, int step) {
  const double start = t == 0 ? varied(i) : 0.0;
  return start - 0.01 * step * varied(i + 5 * (t + 1));
}

double loss_value(int step) {
  return varied(static_cast<std::size_t>(step % 4)) / (1.0 + 0.05 * step);
}

using Noise = std::function<double(std::size_t)>;

HostTensor tensor_of(const TensorDesc& like, const std::function<double(std::size_t)>& value) {
  std::vector<double> values(static_cast<std::size_t>(num_elements(like.shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = value(i);
  }
  return from_doubles(like.dtype, like.shape, values);
}

/// The right trajectory with each change, output and loss off by `relative` * noise.
Trajectory make_trajectory(const Workload& workload, double relative, bool is_reference = false) {
  const auto off = [relative](std::size_t i) { return 1.0 + relative * (varied(3 * i) - 1.0); };
  Trajectory trajectory;
  for (int step = 1; step <= kNumSteps; ++step) {
    trajectory.losses.push_back(loss_value(step) * off(static_cast<std::size_t>(step)));
  }
  const Program& program = workload.step;
  for (const int step : snapshot_steps(workload)) {
    Snapshot snapshot{.step = step, .state = {}, .outputs = {}, .previous_state = {}};
    for (const std::size_t t : {0, 1}) {
      const auto state_at = [&](int done) {
        return tensor_of(program.values[t], [&](std::size_t i) {
          const double start = state_value(t, i, 0);
          return start + (state_value(t, i, done) - start) * off(i);
        });
      };
      snapshot.state.push_back(state_at(step));
      if (is_reference && step > 1) {
        snapshot.previous_state.push_back(state_at(step - 1));
      }
    }
    snapshot.outputs.push_back(tensor_of(program.values[2], [&](std::size_t i) {
      return varied(i + 9) * off(i);
    }));
    snapshot.outputs.push_back(from_doubles(DType::F32, {}, {loss_value(step)}));
    trajectory.snapshots.push_back(snapshot);
  }
  return trajectory;
}

ReferenceBundle make_bundle(const Workload& workload) {
  ReferenceBundle bundle;
  bundle.seed = 101;
  for (const std::size_t t : {0, 1}) {
    bundle.initial_state.push_back(tensor_of(workload.step.values[t], [t](std::size_t i) {
      return state_value(t, i, 0);
    }));
  }
  bundle.reference = make_trajectory(workload, 0.0, true);
  bundle.native = make_trajectory(workload, 1e-4);
  bundle.orders = {make_trajectory(workload, -1e-4), make_trajectory(workload, 5e-5)};
  bundle.unrounded_change = {0.2, 0.2};
  return bundle;
}

Tolerances make_tolerances() {
  const Tolerances::Floor floor{.step1 = 1e-4, .replay = 1e-4, .trajectory = 1e-4};
  Tolerances tolerances;
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    tolerances.floors[dtype] = {.change = floor, .output = floor, .element = floor, .loss = floor};
  }
  return tolerances;
}

class Validation : public testing::Test {
 protected:
  ValidationResult check(const Trajectory& candidate) const {
    return compare(workload_, bundle_, candidate, tolerances_);
  }
  /// Replaces state tensor `t` of every snapshot by what `change` makes of its values.
  void edit_state(
      Trajectory& trajectory,
      std::size_t t,
      const std::function<double(std::size_t, double)>& change
  ) const {
    for (Snapshot& snapshot : trajectory.snapshots) {
      std::vector<double> values = to_doubles(snapshot.state[t]);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = change(i, values[i]);
      }
      snapshot.state[t] = from_doubles(snapshot.state[t].dtype, snapshot.state[t].shape, values);
    }
  }
  /// Makes tensor b one that no implementation changes.
  void freeze_b() {
    for (Trajectory* trajectory :
         {&bundle_.reference, &bundle_.native, &bundle_.orders[0], &bundle_.orders[1]}) {
      edit_state(*trajectory, 1, [](std::size_t, double) { return 0.0; });
    }
  }

  Workload workload_ = make_workload();
  ReferenceBundle bundle_ = make_bundle(workload_);
  Tolerances tolerances_ = make_tolerances();
};

TEST_F(Validation, AcceptsWhatIsAsGoodAsOtherImplementations) {
  const ValidationResult result = check(make_trajectory(workload_, 2e-4));

  EXPECT_TRUE(result.passed) << result.detail;
  EXPECT_EQ(result.detail, "");
  // 3 snapshots of (2 state, y twice, the loss), and the losses of 3 stretches.
  EXPECT_EQ(result.errors.size(), 3U * (2 + 2 + 1) + 3);
}

TEST_F(Validation, RefusesWhatIsWorseThanTheFactorAllows) {
  const ValidationResult result = check(make_trajectory(workload_, 2e-3));

  EXPECT_FALSE(result.passed);
  ASSERT_TRUE(result.worst);
  EXPECT_GT(result.worst->error, result.worst->limit);
  EXPECT_EQ(result.worst->seed, 101U);
}

TEST_F(Validation, CatchesAKernelThatDoesNothing) {
  Trajectory candidate = bundle_.reference;
  for (Snapshot& snapshot : candidate.snapshots) {
    snapshot.state = bundle_.initial_state;
  }
  const ValidationResult result = check(candidate);

  EXPECT_FALSE(result.passed);
  EXPECT_NEAR(result.worst->error, 1.0, 1e-6);
}

TEST_F(Validation, CatchesHalfTheGradient) {
  Trajectory candidate = bundle_.reference;
  edit_state(candidate, 0, [](std::size_t i, double value) {
    return 0.5 * (value + state_value(0, i, 0));
  });
  const ValidationResult result = check(candidate);

  EXPECT_FALSE(result.passed);
  EXPECT_NEAR(result.worst->error, 0.5, 1e-4);
  EXPECT_EQ(result.worst->tensor, "w");
}

TEST_F(Validation, CatchesOneNaNAndNamesItsPlace) {
  Trajectory candidate = bundle_.reference;
  edit_state(candidate, 1, [](std::size_t i, double value) { return i == 7 ? NAN : value; });
  const ValidationResult result = check(candidate);

  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.detail.find("b at step 1"), std::string::npos) << result.detail;
  EXPECT_NE(result.detail.find("[2, 1]"), std::string::npos) << result.detail;
  EXPECT_NE(result.detail.find("got nan"), std::string::npos) << result.detail;
}

TEST_F(Validation, CatchesOneWrongElement) {
  Trajectory candidate = bundle_.reference;
  edit_state(candidate, 0, [](std::size_t i, double value) {
    return i == 4 ? value + 0.01 : value;
  });
  const ValidationResult result = check(candidate);

  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.detail.find("[1, 1]"), std::string::npos) << result.detail;
}

TEST_F(Validation, CatchesSwappedTensors) {
  Trajectory candidate = bundle_.reference;
  for (Snapshot& snapshot : candidate.snapshots) {
    std::swap(snapshot.state[0], snapshot.state[1]);
  }
  EXPECT_FALSE(check(candidate).passed);
}

TEST_F(Validation, CatchesALostUpdateAtTheReplaysEnd) {
  Trajectory candidate = bundle_.reference;
  candidate.snapshots[1].state[1] = bundle_.reference.snapshots[1].previous_state[1];
  const ValidationResult result = check(candidate);

  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.worst->when, "replay");
  EXPECT_EQ(result.worst->tensor, "b");
}

TEST_F(Validation, CatchesOneWrongElementOfAnOutput) {
  Trajectory candidate = bundle_.reference;
  std::vector<double> values = to_doubles(candidate.snapshots[2].outputs[0]);
  values[5] *= 1.01;
  candidate.snapshots[2].outputs[0] = from_doubles(DType::F32, {2, 3}, values);
  const ValidationResult result = check(candidate);

  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.detail.find("y"), std::string::npos);
  EXPECT_NE(result.detail.find("[1, 2]"), std::string::npos) << result.detail;
}

TEST_F(Validation, CatchesOneWrongLoss) {
  Trajectory candidate = bundle_.reference;
  candidate.losses[29] *= 1.01;
  const ValidationResult result = check(candidate);

  EXPECT_FALSE(result.passed);
  EXPECT_NE(result.detail.find("loss of step 30"), std::string::npos) << result.detail;
}

TEST_F(Validation, CatchesNaNLosses) {
  Trajectory candidate = bundle_.reference;
  candidate.losses[3] = NAN;

  EXPECT_FALSE(check(candidate).passed);
}

TEST_F(Validation, NaNAndInfinityPassOnlyAtTheSamePlace) {
  const auto poison = [](std::size_t i, double value) {
    return i == 2 ? NAN : i == 3 ? INFINITY : value;
  };
  for (Trajectory* trajectory :
       {&bundle_.reference, &bundle_.native, &bundle_.orders[0], &bundle_.orders[1]}) {
    edit_state(*trajectory, 0, poison);
  }
  EXPECT_TRUE(check(bundle_.reference).passed);

  Trajectory finite = make_trajectory(workload_, 0.0);
  EXPECT_FALSE(check(finite).passed);
  Trajectory negative = bundle_.reference;
  edit_state(negative, 0, [](std::size_t i, double value) { return i == 3 ? -INFINITY : value; });
  EXPECT_FALSE(check(negative).passed);
}

TEST_F(Validation, SaysWhenEveryValueWasNaN) {
  for (Trajectory* trajectory :
       {&bundle_.reference, &bundle_.native, &bundle_.orders[0], &bundle_.orders[1]}) {
    for (Snapshot& snapshot : trajectory->snapshots) {
      for (auto* tensors : {&snapshot.state, &snapshot.outputs, &snapshot.previous_state}) {
        for (HostTensor& tensor : *tensors) {
          const std::vector<double> all(to_doubles(tensor).size(), NAN);
          tensor = from_doubles(tensor.dtype, tensor.shape, all);
        }
      }
    }
    trajectory->losses.assign(kNumSteps, NAN);
  }
  bundle_.unrounded_change = {INFINITY, INFINITY};
  const ValidationResult result = check(bundle_.reference);

  EXPECT_TRUE(result.passed);
  EXPECT_NE(result.detail.find("every value compared was NaN"), std::string::npos);
  EXPECT_EQ(why_powerless(workload_, bundle_, tolerances_), std::nullopt);
}

TEST_F(Validation, AFaultyImplementationDoesNotWidenTheLimit) {
  const Trajectory candidate = make_trajectory(workload_, 2e-4);
  edit_state(bundle_.native, 0, [](std::size_t, double) { return INFINITY; });

  EXPECT_TRUE(check(candidate).passed);
  Trajectory idle = bundle_.reference;
  idle.snapshots[0].state = bundle_.initial_state;
  EXPECT_FALSE(check(idle).passed);
}

TEST_F(Validation, WhatDoesNotChangeMustStayAsItIs) {
  freeze_b();
  bundle_.unrounded_change[1] = 0.0;
  EXPECT_TRUE(check(bundle_.reference).passed);

  Trajectory candidate = bundle_.reference;
  edit_state(candidate, 1, [](std::size_t, double) { return 1e-30; });
  EXPECT_FALSE(check(candidate).passed);
}

TEST_F(Validation, AChangeThatIsAllRoundingMayDifferAsMuchAsOthers) {
  // b's true change is zero; each implementation makes another 1e-7 of it.
  const auto noise = [](double size) {
    return [size](std::size_t i, double) { return size * (varied(i) - 1.0); };
  };
  edit_state(bundle_.reference, 1, noise(1e-7));
  edit_state(bundle_.native, 1, noise(-1e-7));
  edit_state(bundle_.orders[0], 1, noise(5e-8));
  edit_state(bundle_.orders[1], 1, noise(-2e-8));
  bundle_.unrounded_change[1] = 1e-17;

  Trajectory candidate = bundle_.reference;
  edit_state(candidate, 1, noise(-2e-7));
  EXPECT_TRUE(check(candidate).passed);
  edit_state(candidate, 1, noise(1e-5));
  EXPECT_FALSE(check(candidate).passed);
  EXPECT_EQ(why_powerless(workload_, bundle_, tolerances_), std::nullopt);
}

TEST_F(Validation, SeveralStepsALaunchAreComparedWhereLaunchesEnd) {
  Trajectory candidate = make_trajectory(workload_, 1e-4);
  candidate.steps_per_launch = 4;
  candidate.snapshots.erase(candidate.snapshots.begin());
  EXPECT_TRUE(check(candidate).passed);

  candidate.snapshots.pop_back();
  EXPECT_THROW(check(candidate), InternalError);
}

TEST_F(Validation, IntegerStateMustBeTheSame) {
  workload_.step.values[1].dtype = DType::I64;
  const auto count = [&](Snapshot& snapshot, int step) {
    snapshot.state[1] = from_doubles(DType::I64, {4, 3}, std::vector<double>(12, step));
  };
  for (Trajectory* trajectory :
       {&bundle_.reference, &bundle_.native, &bundle_.orders[0], &bundle_.orders[1]}) {
    for (Snapshot& snapshot : trajectory->snapshots) {
      count(snapshot, snapshot.step);
      if (!snapshot.previous_state.empty()) {
        snapshot.previous_state[1] =
            from_doubles(DType::I64, {4, 3}, std::vector<double>(12, snapshot.step - 1));
      }
    }
  }
  bundle_.initial_state[1] = from_doubles(DType::I64, {4, 3}, std::vector<double>(12, 0));
  EXPECT_TRUE(check(bundle_.reference).passed);
  EXPECT_EQ(why_powerless(workload_, bundle_, tolerances_), std::nullopt);

  Trajectory candidate = bundle_.reference;
  count(candidate.snapshots[1], 19);
  EXPECT_FALSE(check(candidate).passed);
}

TEST_F(Validation, EveryErrorCanBeWrittenAsJson) {
  Trajectory candidate = bundle_.reference;
  edit_state(candidate, 0, [](std::size_t, double) { return NAN; });

  for (const TensorError& error : check(candidate).errors) {
    EXPECT_TRUE(std::isfinite(error.error)) << error.tensor;
    EXPECT_TRUE(std::isfinite(error.limit)) << error.tensor;
  }
}

class Power : public Validation {
 protected:
  std::string reason() const { return why_powerless(workload_, bundle_, tolerances_).value_or(""); }
};

TEST_F(Power, IsThereInAnOrdinaryBundle) { EXPECT_EQ(reason(), ""); }

TEST_F(Power, IsRefusedWhenOthersDisagreeByHalf) {
  bundle_.native = make_trajectory(workload_, 0.6);

  EXPECT_NE(reason().find("half the change would pass for w at step 1"), std::string::npos)
      << reason();
}

TEST_F(Power, IsRefusedWhenTheInitialStateWouldPass) {
  tolerances_.floors[DType::F32].change.step1 = 1.5;

  EXPECT_NE(reason().find("would pass for w at step 1"), std::string::npos) << reason();
}

TEST_F(Power, IsRefusedWhenTheReplayHidesALostUpdate) {
  tolerances_.floors[DType::F32].change.replay = 0.1;

  EXPECT_NE(reason().find("the previous step's state would pass"), std::string::npos) << reason();
}

TEST_F(Power, IsRefusedWhenUpdatesAreLostToRounding) {
  freeze_b();

  EXPECT_NE(reason().find("the update of b is lost to rounding"), std::string::npos) << reason();
}

TEST_F(Power, NeedsNoChangeOfWhatHasNoGradient) {
  freeze_b();
  bundle_.unrounded_change[1] = 0.0;

  EXPECT_EQ(reason(), "");
}

TEST_F(Power, IsRefusedWhenNothingChangesAtAll) {
  workload_.step.outputs = {};
  workload_.output_names = {};
  freeze_b();
  for (Trajectory* trajectory :
       {&bundle_.reference, &bundle_.native, &bundle_.orders[0], &bundle_.orders[1]}) {
    for (Snapshot& snapshot : trajectory->snapshots) {
      snapshot.outputs = {};
      snapshot.state[0] = bundle_.initial_state[0];
    }
  }
  bundle_.unrounded_change = {0.0, 0.0};

  EXPECT_NE(reason().find("nothing that is compared differs"), std::string::npos) << reason();
}

TEST_F(Power, IsRefusedWhenZerosAreTheOutput) {
  tolerances_.floors[DType::F32].output.step1 = 2.0;
  tolerances_.floors[DType::F32].element.step1 = 2.0;

  EXPECT_NE(reason().find("zeros would pass for y at step 1"), std::string::npos) << reason();
}

TEST_F(Power, IsRefusedWhenTheLossStandsStill) {
  for (Trajectory* trajectory :
       {&bundle_.reference, &bundle_.native, &bundle_.orders[0], &bundle_.orders[1]}) {
    trajectory->losses.assign(kNumSteps, 1.0);
  }
  EXPECT_NE(reason().find("the previous step's loss would pass"), std::string::npos) << reason();
}

}  // namespace
}  // namespace whet
