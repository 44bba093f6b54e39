#include "property/property_case.hpp"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "harness/libtorch_arithmetic.hpp"
#include "ir/differentiate.hpp"
#include "ir/sgd.hpp"
#include "property/error_bound.hpp"
#include "property/leaf_tensor.hpp"

namespace whet::testing {
namespace {

using Index = std::size_t;

std::vector<ValueId> leaves_of(const Program& program) {
  std::vector<ValueId> leaves;
  for (const ProgramInput& input : program.inputs) {
    leaves.push_back(input.value);
  }
  for (const ProgramState& state : program.state) {
    leaves.push_back(state.before);
  }
  return leaves;
}

/// The whole step: gradients of every leaf among the outputs, SGD on the states that take it.
Program differentiated_step(const Program& forward) {
  Program step = forward;
  const ValueId loss = step.loss.value();
  const std::vector<ValueId> gradients = differentiate(step, loss, leaves_of(forward));
  const auto num_inputs = static_cast<std::ptrdiff_t>(step.inputs.size());
  append_sgd(step, {gradients.begin() + num_inputs, gradients.end()}, step.scalars[0]);
  for (Index i = 0; i < forward.state.size(); ++i) {
    if (forward.state[i].after != forward.state[i].before) {
      step.state[i].after = forward.state[i].after;
    }
  }
  step.outputs.push_back(loss);
  step.outputs.insert(step.outputs.end(), gradients.begin(), gradients.end());
  verify(step);
  return step;
}

/// Values of the outputs and then of the states after the step, by LibTorch.
std::vector<at::Tensor> libtorch_results(const RandomProgram& program) {
  const Program& forward = program.forward;
  std::vector<at::Tensor> values(forward.values.size());
  values[Index(forward.scalars[0])] = at::tensor(program.rate, at::kFloat);
  std::vector<at::Tensor> leaves;
  for (const ValueId v : leaves_of(forward)) {
    at::Tensor leaf = leaf_tensor(forward.value(v), program.leaves.at(v));
    leaf.requires_grad_(true);
    leaves.push_back(leaf);
    values[Index(v)] = leaf;
  }
  const ArithmeticGuard guard(Arithmetic::Reference);
  walk(forward, values, WalkDType::Declared);
  const at::Tensor loss = values[Index(*forward.loss)];
  std::vector<at::Tensor> gradients(leaves.size());
  if (loss.requires_grad()) {
    gradients = torch::autograd::grad({loss}, leaves, {}, {}, false, true);
  }
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> results;
  for (const ValueId v : forward.outputs) {
    results.push_back(values[Index(v)]);
  }
  results.push_back(loss);
  for (Index i = 0; i < leaves.size(); ++i) {
    if (!gradients[i].defined()) {
      gradients[i] = at::zeros_like(leaves[i]);
    }
    results.push_back(gradients[i]);
  }
  for (Index i = 0; i < forward.state.size(); ++i) {
    const auto& [before, after] = forward.state[i];
    const at::Tensor old = values[Index(before)];
    const at::Tensor rate = values[Index(forward.scalars[0])].to(old.scalar_type());
    const at::Tensor update = at::mul(gradients[forward.inputs.size() + i], rate);
    results.push_back(after == before ? at::sub(old, update) : values[Index(after)]);
  }
  return results;
}

/// Bounds of every value of the step, or why there are none.
std::string bound_step(const RandomProgram& program, const Program& step, BoundedValues& at) {
  const at::NoGradGuard no_grad;
  at.values.resize(step.values.size());
  at.bounds.resize(step.values.size());
  at.values[Index(step.scalars[0])] = at::tensor(program.rate, at::kFloat);
  at.bounds[Index(step.scalars[0])] = at::zeros({}, at::kDouble);
  for (const ValueId v : leaves_of(step)) {
    at.values[Index(v)] = leaf_tensor(step.value(v), program.leaves.at(v));
    at.bounds[Index(v)] = at::zeros(step.value(v).shape, at::kDouble);
  }
  for (const Op& op : step.ops) {
    if (std::string kink = near_kink(step, op, at); !kink.empty()) {
      return "gradient: " + kink;
    }
    evaluate_with_bound(step, op, at);
  }
  return "";
}

bool zeros_would_pass(const Expected& expected) {
  for (Index i = 0; i < expected.value.size(); ++i) {
    if (!(std::fabs(expected.value[i]) <= expected.bound[i])) {
      return false;
    }
  }
  // What is exactly zero is no weakness of the comparison.
  return std::any_of(expected.bound.begin(), expected.bound.end(), [](double bound) {
    return bound > 0.0;
  });
}

StepData data_of(const RandomProgram& program) {
  StepData data;
  data.inputs.emplace_back();
  for (const ProgramInput& input : program.forward.inputs) {
    data.inputs[0].push_back(program.leaves.at(input.value));
  }
  for (const ProgramState& state : program.forward.state) {
    data.state.push_back(program.leaves.at(state.before));
  }
  data.scalars.push_back({program.rate});
  return data;
}

std::optional<std::string> first_difference(
    const Expected& expected, DType dtype, const Values& got, Comparison& comparison
) {
  comparison.num_tensors += 1;
  comparison.num_unsure += zeros_would_pass(expected) ? 1 : 0;
  if (got.size() != expected.value.size()) {
    return fmt::format(
        "{}: {} elements, expected {}", expected.name, got.size(), expected.value.size()
    );
  }
  std::optional<std::string> difference;
  for (Index i = 0; i < got.size(); ++i) {
    const bool equal =
        got[i] == expected.value[i] || (std::isnan(got[i]) && std::isnan(expected.value[i]));
    comparison.num_elements += 1;
    comparison.num_equal += equal ? 1 : 0;
    if (dtype != DType::F32) {
      comparison.num_low += 1;
      comparison.num_low_equal += equal ? 1 : 0;
    }
    if (!equal && !difference && !(std::fabs(got[i] - expected.value[i]) <= expected.bound[i])) {
      difference = fmt::format(
          "{}[{}]: got {:.9g}, expected {:.9g} to within {:.3g}",
          expected.name,
          i,
          got[i],
          expected.value[i],
          expected.bound[i]
      );
    }
  }
  return difference;
}

}  // namespace

std::optional<PropertyCase> make_case(const RandomProgram& program, Rejections& rejections) {
  PropertyCase test{.step = differentiated_step(program.forward), .data = data_of(program)};
  const Program& step = test.step;
  BoundedValues at;
  ++rejections.num_drawn;
  if (const std::string reason = bound_step(program, step, at); !reason.empty()) {
    ++rejections.by_reason[reason];
    return std::nullopt;
  }
  const std::vector<at::Tensor> results = libtorch_results(program);
  const auto expected = [&](ValueId v, const std::string& name, const at::Tensor& value) {
    return Expected{name, to_values(value), to_values(at.bounds[Index(v)])};
  };
  Index next = 0;
  for (const ValueId v : step.outputs) {
    const std::string name = fmt::format("output {} ({})", next, step.value(v).name);
    test.outputs.push_back(expected(v, name, results[next++]));
  }
  for (const ProgramState& state : step.state) {
    const std::string name = "state " + step.value(state.before).name;
    test.state.push_back(expected(state.after, name, results[next++]));
  }
  if (zeros_would_pass(test.outputs[program.forward.outputs.size()])) {
    ++rejections.by_reason["loss: as unsure as large"];
    return std::nullopt;
  }
  return test;
}

KernelSource lower_case(const PropertyCase& test, const DeviceLimits& limits) {
  auto resolved = resolve(test.step, test.configuration, limits);
  if (const auto* violation = std::get_if<ConstraintViolation>(&resolved)) {
    throw InternalError(violation->constraint + ": " + violation->detail);
  }
  const Schedule& schedule = std::get<Schedule>(resolved);
  for (const std::string& hazard : find_hazards(test.step, schedule)) {
    throw InternalError("hazard: " + hazard);
  }
  return lower(test.step, schedule, limits);
}

void Comparison::add(const Comparison& other) {
  num_elements += other.num_elements;
  num_equal += other.num_equal;
  num_low += other.num_low;
  num_low_equal += other.num_low_equal;
  num_tensors += other.num_tensors;
  num_unsure += other.num_unsure;
}

std::optional<std::string> run_case(
    const PropertyCase& test,
    Executor& executor,
    const std::filesystem::path& artifact,
    const LaunchPlan& plan,
    Comparison& comparison
) {
  StepRunner runner(executor, test.step, artifact, plan, test.data);
  const StepResult got = runner.run(plan.steps_per_launch);
  std::optional<std::string> difference;
  const auto compare = [&](const Expected& expected, ValueId v, const Values& values) {
    const auto found = first_difference(expected, test.step.value(v).dtype, values, comparison);
    if (found && !difference) {
      difference = found;
    }
  };
  for (Index i = 0; i < test.outputs.size(); ++i) {
    compare(test.outputs[i], test.step.outputs[i], got.outputs[0][i]);
  }
  if (plan.steps_per_launch == 1) {
    for (Index i = 0; i < test.state.size(); ++i) {
      compare(test.state[i], test.step.state[i].after, got.state[0][i]);
    }
  } else if (test.step.state.empty()) {
    for (const std::vector<Values>& outputs : got.outputs) {
      if (outputs != got.outputs[0] && !difference) {
        difference = "the steps of a launch differ, though nothing changes between them";
      }
    }
  }
  return difference;
}

}  // namespace whet::testing
