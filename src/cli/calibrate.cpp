#include "cli/calibrate.hpp"

#include <chrono>
#include <cstdio>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/subprocess.hpp"
#include "cli/device_files.hpp"
#include "model/calibration.hpp"

namespace whet {
namespace {

/// The samples that the child prints.
JsonCursor measure(const DeviceChoice& device, const Environment& environment) {
  // A GPU takes some ten seconds, most of them for compiling.
  constexpr std::chrono::minutes kDeadline{5};
  const ProcessResult result = run_process(
      {.arguments =
           {(environment.program_folder / "whet-calibrate").string(),
            target_name(device.limits.target),
            device.limits.target == Target::Cpu ? std::to_string(device.limits.num_sms)
                                                : device.handle,
            cache_folder(environment).string()}},
      kDeadline
  );
  if (result.timed_out || result.exit.signaled || result.exit.code != 0) {
    throw EnvironmentError(fmt::format(
        "whet-calibrate: {}: {}",
        result.timed_out ? "no result within five minutes" : result.exit.describe(),
        result.error_output
    ));
  }
  return JsonCursor::parse_text(result.output, "whet-calibrate");
}

void print_costs(const DeviceCosts& costs) {
  const auto row = [](const char* name, double value, const char* unit) {
    fmt::print("  {:<24} {:>9.4g} {}\n", name, value, unit);
  };
  fmt::print("{}\n", costs.name);
  row("clock", costs.clock_mhz, "MHz");
  row("launch", costs.launch_ns, "ns");
  row("graph node", costs.graph_node_ns, "ns");
  row("overlapped node", costs.overlapped_node_ns, "ns");
  for (const BarrierCost& barrier : costs.grid_barriers) {
    row(fmt::format("barrier of {} blocks", barrier.blocks).c_str(), barrier.time_ns, "ns");
  }
  row("block barrier", costs.block_barrier_ns, "ns");
  row("L2 latency", costs.l2_latency_ns, "ns");
  row("L2, all SMs", costs.l2_bytes_per_ns, "bytes/ns");
  row("L2, one SM", costs.sm_l2_bytes_per_ns, "bytes/ns");
  row("shared memory latency", costs.shared_latency_ns, "ns");
  row("shared memory", costs.shared_bytes_per_clk, "bytes/clk an SM");
  row("mma, bf16", costs.mma_flops_per_clk, "flops/clk an SM");
  row("fma, f32", costs.fma_flops_per_clk, "flops/clk an SM");
}

}  // namespace

int run_calibrate(const CalibrateOptions& options, const Environment& environment) {
  const DeviceChoice device = choose_present_device(options.device, environment);
  if (device.limits.target == Target::CudaEmulated) {
    throw UserError(fmt::format(
        "--calibrate: expected --target cpu or cuda, found {}, which is never timed",
        target_name(device.limits.target)
    ));
  }
  const std::filesystem::path path = options.output.empty()
                                         ? device_file("costs", device.limits, environment)
                                         : std::filesystem::path(options.output);
  if (path.empty()) {
    throw EnvironmentError(
        "no place for the costs: HOME, XDG_DATA_HOME and WHET_DB are not set; give --output FILE"
    );
  }
  const DeviceCosts costs = costs_from_samples(measure(device, environment), device.limits.name);
  const std::string text = to_json(costs).dump(1) + "\n";
  write_file_atomically(path, text);
  if (options.json) {
    fmt::print("{}", text);
  } else {
    print_costs(costs);
    fmt::print("stored in {}\n", path.string());
  }
  return 0;
}

}  // namespace whet
