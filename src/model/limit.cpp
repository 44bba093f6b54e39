#include "model/limit.hpp"

#include <algorithm>
#include <vector>

namespace whet {
namespace {

bool is_product(const Op& op) { return op.kind == OpKind::Mm || op.kind == OpKind::Addmm; }

double bytes_of(const TensorDesc& value) {
  return static_cast<double>(num_elements(value.shape) * dtype_bytes(value.dtype));
}

double moved_bytes(const Program& program, std::int64_t steps_per_launch) {
  double bytes = 0.0;
  for (const ProgramInput& input : program.inputs) {
    bytes += bytes_of(program.value(input.value));
  }
  for (const ValueId output : program.outputs) {
    bytes += bytes_of(program.value(output));
  }
  for (const ProgramState& state : program.state) {
    bytes += 2 * bytes_of(program.value(state.before)) / static_cast<double>(steps_per_launch);
  }
  return bytes;
}

/// Clocks of one SM.
double product_clk(const Program& program, const Op& op, const DeviceCosts& costs) {
  const TensorDesc& a = program.value(op.inputs[op.kind == OpKind::Addmm ? 1 : 0]);
  const double flops = 2.0 * static_cast<double>(num_elements(program.value(op.output).shape)) *
                       static_cast<double>(a.shape[1]);
  const bool on_tensor_cores = a.dtype != DType::F32 && costs.mma_flops_per_clk > 0;
  return flops / (on_tensor_cores ? costs.mma_flops_per_clk : costs.fma_flops_per_clk);
}

/// Products and reductions on the longest path.
int longest_chain(const Program& program) {
  std::vector<int> depths(program.values.size(), 0);
  int longest = 0;
  for (const Op& op : program.ops) {
    int depth = is_product(op) || is_reduction(op.kind) ? 1 : 0;
    int before = 0;
    for (const ValueId input : op.inputs) {
      before = std::max(before, depths[static_cast<std::size_t>(input)]);
    }
    depth += before;
    depths[static_cast<std::size_t>(op.output)] = depth;
    longest = std::max(longest, depth);
  }
  return longest;
}

}  // namespace

double total_ns(const Limit& limit) {
  return limit.launch_ns + std::max({limit.bytes_ns, limit.math_ns, limit.chain_ns});
}

Limit find_limit(
    const Program& program,
    const DeviceLimits& limits,
    const DeviceCosts& costs,
    std::int64_t steps_per_launch
) {
  double clk = 0.0;
  for (const Op& op : program.ops) {
    clk += is_product(op) ? product_clk(program, op, costs) : 0.0;
  }
  return {
      .launch_ns = std::min(costs.graph_node_ns, costs.overlapped_node_ns) /
                   static_cast<double>(steps_per_launch),
      .bytes_ns = moved_bytes(program, steps_per_launch) / costs.l2_bytes_per_ns,
      .math_ns = clk / limits.num_sms / costs.clock_mhz * 1e3,
      .chain_ns = longest_chain(program) * costs.shared_latency_ns};
}

}  // namespace whet
