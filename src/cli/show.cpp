#include "cli/show.hpp"

#include <algorithm>
#include <cstdio>
#include <variant>

#include "cli/configuration_choice.hpp"
#include "cli/schedule_text.hpp"
#include "cli/session_model.hpp"
#include "cli/workload_choice.hpp"
#include "codegen/lower.hpp"
#include "model/limit.hpp"
#include "model/predict.hpp"
#include "schedule/resolve.hpp"

namespace whet {
namespace {

void print_summary(const WorkloadChoice& choice, const DeviceLimits& limits) {
  const Program& step = choice.workload.step;
  fmt::print("{}: {}\n", choice.name, choice.workload.about);
  fmt::print("  key      {}\n", choice.key);
  fmt::print(
      "  program  {} ops, {} inputs, {} scalars, {} state tensors, {} outputs\n",
      step.ops.size(),
      step.inputs.size(),
      step.scalars.size(),
      step.state.size(),
      step.outputs.size()
  );
  fmt::print("  device   {} ({})\n", limits.name, device_class(limits));
  fmt::print("  space    at most {:.4g} configurations\n", SearchSpace(step, limits).size_bound());
  fmt::print("More: --space, --program, --schedule, --source\n");
}

void print_space(const SearchSpace& space) {
  for (const Knob& knob : space.knobs()) {
    fmt::print("{} = {}\n", knob.name, fmt::join(knob.values, " | "));
    fmt::print("    {} (default {})\n", knob.about, knob.default_value);
  }
  fmt::print("at most {:.4g} configurations\n", space.size_bound());
}

}  // namespace

int run_show(const ShowOptions& options, const Environment& environment) {
  const WorkloadChoice choice =
      choose_workload(options.workload, parse_dims(options.dims), environment);
  const Program& step = choice.workload.step;
  if (options.what == ShowOptions::What::Program) {
    fmt::print("{}", to_text(step));
    return 0;
  }
  const DeviceLimits limits = choose_device(options.device, environment).limits;
  const SearchSpace space(step, limits);
  if (options.what == ShowOptions::What::Summary) {
    print_summary(choice, limits);
    return 0;
  }
  if (options.what == ShowOptions::What::Space) {
    print_space(space);
    return 0;
  }
  const auto resolved = resolve(step, choose_configuration(options.configuration, space), limits);
  if (const auto* violation = std::get_if<ConstraintViolation>(&resolved)) {
    fmt::print(stderr, "whet: refused by {}: {}\n", violation->constraint, violation->detail);
    return 1;
  }
  const Schedule& schedule = std::get<Schedule>(resolved);
  if (options.what == ShowOptions::What::Schedule) {
    fmt::print("{}", describe_schedule(schedule));
    if (const auto costs = known_costs(limits, environment)) {
      const Limit limit = find_limit(step, limits, *costs, schedule.steps_per_launch);
      fmt::print("{}", describe_prediction(predict(schedule, limits, *costs), limit));
    }
  } else {
    fmt::print("{}", lower(step, schedule, limits).text);
  }
  return 0;
}

}  // namespace whet
