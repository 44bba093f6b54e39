#include "harness/compile_candidate.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "codegen/lower.hpp"
#include "jit/compile.hpp"
#include "schedule/resolve.hpp"
#include "schedule/verify.hpp"

namespace whet {
namespace {

/// Registers are given to a warp in units of this many. Source: CUDA programming guide, "compute
/// capabilities", register allocation unit size, 8.x to 12.x.
constexpr std::int64_t kRegisterUnit = 256;
constexpr std::int64_t kWarpThreads = 32;
/// What the system keeps of a block's shared memory on every architecture from sm_80 on.
constexpr std::int64_t kReservedSharedBytes = 1024;

CompileResponse refused(const ConstraintViolation& violation) {
  CompileResponse response;
  response.status = Status::ConstraintViolated;
  response.detail = violation.constraint + ": " + violation.detail;
  return response;
}

CompileResponse our_bug(const std::string& what) {
  CompileResponse response;
  response.status = Status::CompileFailed;
  response.detail = "our bug: " + what;
  return response;
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

CompileResponse lower_and_compile(
    const Workload& workload, const CompileRequest& request, const Schedule& schedule
) {
  const KernelSource source =
      lower(workload.step, schedule, request.limits, {.profile = request.profile});
  const CompileOutcome outcome = compile(source, request.options);
  CompileResponse response{
      .status = outcome.status,
      .detail = outcome.detail,
      .artifact = outcome.artifact,
      .plan = source.plan,
      .source_sha256 = outcome.source_sha256,
      .resources = outcome.resources,
      .paths = task_paths(schedule),
      .compile_s = outcome.compile_s,
      .cache_hit = outcome.cache_hit};
  if (response.status != Status::Ok) {
    return response;
  }
  if (const auto violation = check_resources(source.plan, outcome.resources, request.limits)) {
    response.status = Status::ConstraintViolated;
    response.detail = violation->constraint + ": " + violation->detail;
  }
  return response;
}

CompileResponse compile_or_throw(const Workload& workload, const CompileRequest& request) {
  const SearchSpace space(workload.step, request.limits);
  const Configuration configuration = space.complete(request.configuration);
  if (const std::optional<std::string> reason = space.why_not_member(configuration)) {
    return refused({.constraint = "space", .detail = *reason});
  }
  const auto resolved = resolve(workload.step, configuration, request.limits);
  if (const auto* violation = std::get_if<ConstraintViolation>(&resolved)) {
    return refused(*violation);
  }
  const Schedule& schedule = std::get<Schedule>(resolved);
  if (const auto violation =
          check_steps_per_launch(workload.validation, schedule.steps_per_launch)) {
    return refused(*violation);
  }
  const std::vector<std::string> hazards = find_hazards(workload.step, schedule);
  if (!hazards.empty()) {
    return our_bug("the schedule has hazards:\n" + join_lines(hazards));
  }
  return lower_and_compile(workload, request, schedule);
}

std::int64_t registers_of_block(std::int64_t registers, std::int64_t threads) {
  const std::int64_t warps = (threads + kWarpThreads - 1) / kWarpThreads;
  const std::int64_t a_warp =
      (registers * kWarpThreads + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  return warps * a_warp;
}

}  // namespace

CompileResponse compile_candidate(const Workload& workload, const CompileRequest& request) {
  try {
    return compile_or_throw(workload, request);
  } catch (const UserError&) {
    throw;
  } catch (const EnvironmentError&) {
    throw;
  } catch (const std::exception& error) {
    return our_bug(error.what());
  }
}

std::optional<ConstraintViolation> check_steps_per_launch(
    const Validation& validation, int steps_per_launch
) {
  for (const int num_steps : {validation.num_replay_steps, validation.num_steps}) {
    if (num_steps % steps_per_launch != 0) {
      return ConstraintViolation{
          .constraint = "validated_steps",
          .detail = fmt::format(
              "launches of {} steps do not end after {} steps, where state is compared",
              steps_per_launch,
              num_steps
          )};
    }
  }
  return std::nullopt;
}

std::optional<ConstraintViolation> check_resources(
    const LaunchPlan& plan, const Resources& resources, const DeviceLimits& limits
) {
  if (plan.target != Target::Cuda) {
    return std::nullopt;
  }
  const std::int64_t blocks_per_sm = std::max(plan.min_blocks_per_sm, 1);
  const std::int64_t registers =
      registers_of_block(resources.registers, plan.threads) * blocks_per_sm;
  if (registers > limits.max_registers_per_sm) {
    return ConstraintViolation{
        .constraint = "registers",
        .detail = fmt::format(
            "{} registers a thread x {} threads x {} blocks an SM need {}, an SM has {}",
            resources.registers,
            plan.threads,
            blocks_per_sm,
            registers,
            limits.max_registers_per_sm
        )};
  }
  const std::int64_t shared_bytes =
      resources.static_shared_bytes + static_cast<std::int64_t>(plan.dynamic_shared_bytes);
  if (shared_bytes > limits.max_shared_bytes_per_block) {
    return ConstraintViolation{
        .constraint = "shared_memory",
        .detail = fmt::format(
            "a block needs {} bytes of shared memory, it can have {}",
            shared_bytes,
            limits.max_shared_bytes_per_block
        )};
  }
  const std::int64_t sm_bytes = (shared_bytes + kReservedSharedBytes) * blocks_per_sm;
  if (sm_bytes > limits.max_shared_bytes_per_sm) {
    return ConstraintViolation{
        .constraint = "shared_memory_per_sm",
        .detail = fmt::format(
            "{} blocks need {} bytes of shared memory, an SM has {}",
            blocks_per_sm,
            sm_bytes,
            limits.max_shared_bytes_per_sm
        )};
  }
  const std::int64_t resident = blocks_per_sm * limits.num_sms;
  if (plan.cooperative && plan.blocks > resident) {
    return ConstraintViolation{
        .constraint = "co_residency",
        .detail = fmt::format(
            "{} blocks wait for each other, {} are resident at once", plan.blocks, resident
        )};
  }
  return std::nullopt;
}

}  // namespace whet
