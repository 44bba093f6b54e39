#include "artifact/launch_plan.hpp"

#include <array>
#include <utility>

#include "artifact/field_reader.hpp"
#include "base/error.hpp"

namespace whet {
namespace {

using Role = KernelArgument::Role;
constexpr std::array<std::pair<Role, std::string_view>, 4> kRoles = {{
    {Role::Input, "input"},
    {Role::Scalar, "scalar"},
    {Role::State, "state"},
    {Role::Output, "output"},
}};

std::string_view role_name(Role role) {
  for (const auto& [value, name] : kRoles) {
    if (value == role) {
      return name;
    }
  }
  WHET_CHECK(false, "no such role");
}

Json to_json(const KernelArgument& argument) {
  return {
      {"role", role_name(argument.role)},
      {"index", argument.index},
      {"dtype", dtype_name(argument.dtype)},
      {"extent_elements", argument.extent_elements},
      {"step_stride_elements", argument.step_stride_elements},
  };
}

KernelArgument argument_from_json(const Json& json, const std::string& where) {
  const FieldReader reader(json, where);
  KernelArgument argument;
  std::string role;
  reader.read(role, "role");
  bool known = false;
  for (const auto& [value, name] : kRoles) {
    if (name == role) {
      argument.role = value;
      known = true;
    }
  }
  if (!known) {
    reader.fail("role", "input, scalar, state or output");
  }
  std::string dtype_text;
  reader.read(dtype_text, "dtype");
  const std::optional<DType> dtype = parse_dtype(dtype_text);
  if (!dtype) {
    reader.fail("dtype", "the name of a dtype");
  }
  argument.dtype = *dtype;
  reader.read(argument.index, "index", 0);
  reader.read<std::int64_t>(argument.extent_elements, "extent_elements", 0);
  reader.read<std::int64_t>(argument.step_stride_elements, "step_stride_elements", 0);
  return argument;
}

}  // namespace

Json to_json(const LaunchPlan& plan) {
  Json arguments = Json::array();
  for (const KernelArgument& argument : plan.arguments) {
    arguments.push_back(to_json(argument));
  }
  Json json{
      {"target", target_name(plan.target)},
      {"arch", plan.arch},
      {"entry", plan.entry},
      {"workload_key", plan.workload_key},
      {"blocks", plan.blocks},
      {"threads", plan.threads},
      {"min_blocks_per_sm", plan.min_blocks_per_sm},
      {"dynamic_shared_bytes", plan.dynamic_shared_bytes},
      {"workspace_bytes", plan.workspace_bytes},
      {"cooperative", plan.cooperative},
      {"cluster", plan.cluster},
      {"overlaps", plan.overlaps},
      {"arguments_in_memory", plan.arguments_in_memory},
      {"has_shadows", plan.has_shadows},
      {"steps_per_launch", plan.steps_per_launch},
      {"counter_offset_bytes", plan.counter_offset_bytes},
      {"arguments", std::move(arguments)},
  };
  if (plan.stamps) {
    json["stamps"] = to_json(*plan.stamps);
  }
  return json;
}

LaunchPlan launch_plan_from_json(const Json& json) {
  const std::string where = "launch plan";
  const FieldReader reader(json, where);
  LaunchPlan plan;
  std::string target;
  reader.read(target, "target");
  plan.target = parse_target(target);
  reader.read(plan.arch, "arch");
  reader.read(plan.entry, "entry");
  reader.read(plan.workload_key, "workload_key");
  reader.read(plan.blocks, "blocks", 1);
  reader.read(plan.threads, "threads", 1);
  reader.read(plan.min_blocks_per_sm, "min_blocks_per_sm", 1);
  reader.read<std::size_t>(plan.dynamic_shared_bytes, "dynamic_shared_bytes", 0);
  reader.read<std::size_t>(plan.workspace_bytes, "workspace_bytes", 0);
  reader.read(plan.cooperative, "cooperative");
  reader.read(plan.cluster, "cluster");
  reader.read(plan.overlaps, "overlaps");
  reader.read(plan.arguments_in_memory, "arguments_in_memory");
  reader.read(plan.has_shadows, "has_shadows");
  reader.read(plan.steps_per_launch, "steps_per_launch", 1);
  reader.read<std::size_t>(plan.counter_offset_bytes, "counter_offset_bytes", 0);
  const Json& arguments = reader.member("arguments");
  if (!arguments.is_array()) {
    reader.fail("arguments", "an array");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    plan.arguments.push_back(
        argument_from_json(arguments[i], fmt::format("{}.arguments[{}]", where, i))
    );
  }
  if (json.contains("stamps")) {
    plan.stamps = stamp_plan_from_json(json.at("stamps"), where + ".stamps");
  }
  return plan;
}

}  // namespace whet
