#pragma once

#include <optional>
#include <string>
#include <vector>

#include "artifact/launch_plan.hpp"
#include "jit/executor.hpp"
#include "property/random_program.hpp"
#include "support/step_runner.hpp"

namespace whet::testing {

/// What LibTorch makes of a tensor, and how far each element of a correct kernel may be from it.
struct Expected {
  std::string name;
  Values value;
  Values bound;
};

/// One differentiated step with what it must give, and the configuration to lower it at.
struct PropertyCase {
  Program step;
  StepData data;
  std::vector<Expected> outputs{};  ///< of the step: forward values, the loss, each leaf's gradient
  std::vector<Expected> state{};    ///< after the step
  Configuration configuration{};
};

/// Differentiates by whet, and evaluates forward and gradients by LibTorch: a walk over the forward
/// ops, autograd, and SGD on the states. Nothing if a gradient meets a kink or the loss is too
/// unsure to show anything; `rejections` counts it.
std::optional<PropertyCase> make_case(const RandomProgram& program, Rejections& rejections);

/// Resolves and lowers for the CPU target. Throws InternalError on a hazard.
KernelSource lower_case(const PropertyCase& test, const DeviceLimits& limits);

/// How much a run compared.
struct Comparison {
  std::int64_t num_elements = 0;
  std::int64_t num_equal = 0;      ///< to the last bit
  std::int64_t num_low = 0;        ///< elements of bf16 and f16
  std::int64_t num_low_equal = 0;  ///< to the last bit
  std::int64_t num_tensors = 0;
  std::int64_t num_unsure = 0;  ///< tensors that zeros would pass for

  void add(const Comparison& other);
};

/// Runs a compiled kernel and compares: nothing, or the first difference.
std::optional<std::string> run_case(
    const PropertyCase& test,
    Executor& executor,
    const std::filesystem::path& artifact,
    const LaunchPlan& plan,
    Comparison& comparison
);

}  // namespace whet::testing
