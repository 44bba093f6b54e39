#include "codegen/probe.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "codegen/embedded.hpp"

namespace whet {
namespace {

struct ProbeText {
  Probe probe;
  std::string_view name;
  std::string_view text;
};

const std::vector<ProbeText>& texts() {
  static const std::vector<ProbeText> list = {
      {Probe::Node, "node", embedded::probe_node},
      {Probe::GridBarrier, "grid_barrier", embedded::probe_grid_barrier},
      {Probe::BlockBarrier, "block_barrier", embedded::probe_block_barrier},
      {Probe::L2Latency, "l2_latency", embedded::probe_l2_latency},
      {Probe::L2Rate, "l2_rate", embedded::probe_l2_rate},
      {Probe::SharedLatency, "shared_latency", embedded::probe_shared_latency},
      {Probe::SharedRate, "shared_rate", embedded::probe_shared_rate},
      {Probe::Mma, "mma", embedded::probe_mma},
      {Probe::Fma, "fma", embedded::probe_fma},
  };
  return list;
}

const ProbeText& text_of(Probe probe) { return texts().at(static_cast<std::size_t>(probe)); }

/// Two batches of l2_rate.cuh are the most that a probe keeps there; the others need no such thing,
/// and small multiprocessors do not have it for more threads.
std::size_t shared_bytes(const ProbeGrid& grid) {
  const bool uses_shared = grid.probe == Probe::L2Rate || grid.probe == Probe::SharedRate ||
                           grid.probe == Probe::SharedLatency;
  return uses_shared ? static_cast<std::size_t>(grid.threads) * 2 * 8 * 16 : 0;
}

KernelArgument argument(KernelArgument::Role role, std::size_t words) {
  return {
      .role = role,
      .index = 0,
      .dtype = DType::I32,
      .extent_elements = static_cast<std::int64_t>(words),
      .step_stride_elements = 0};
}

}  // namespace

std::string_view probe_name(Probe probe) { return text_of(probe).name; }

std::vector<Probe> all_probes() {
  std::vector<Probe> probes;
  for (const ProbeText& text : texts()) {
    probes.push_back(text.probe);
  }
  return probes;
}

std::size_t probe_buffer_bytes(Target target) {
  constexpr std::size_t kMib = std::size_t{1} << 20;
  return target == Target::CudaEmulated ? kMib / 8 : 16 * kMib;
}

KernelSource probe_source(const ProbeGrid& grid, const DeviceLimits& limits) {
  WHET_CHECK(limits.target != Target::Cpu, "probes are kernels of a GPU");
  const bool emulated = limits.target == Target::CudaEmulated;
  const std::size_t buffer_bytes = probe_buffer_bytes(limits.target);
  KernelSource source;
  source.text = fmt::format(
      "// whet probe {}\n{}{}{}{}constexpr int kBlocks = {}, kThreads = {};\n"
      "constexpr u32 kBufferBytes = {};\nconstexpr bool kOverlaps = {};\n{}{}{}",
      probe_name(grid.probe),
      embedded::types,
      emulated ? embedded::hooks : "",
      emulated ? embedded::emulated : embedded::cuda,
      embedded::edge,
      grid.blocks,
      grid.threads,
      buffer_bytes,
      grid.overlaps,
      embedded::probe_arguments,
      text_of(grid.probe).text,
      embedded::probe_kernel
  );
  if (emulated) {
    source.text +=
        "extern \"C\" void whet_step_emulated(const EmulationHooks* hooks, const void* arguments) "
        "{\n  begin_emulation(hooks);\n"
        "  whet_step(*static_cast<const StepArguments*>(arguments));\n}\n";
  }
  LaunchPlan& plan = source.plan;
  plan.target = limits.target;
  plan.arch = limits.arch;
  plan.blocks = grid.blocks;
  plan.threads = grid.threads;
  plan.dynamic_shared_bytes = shared_bytes(grid);
  plan.workspace_bytes = LaunchPlan::kControlBytes;
  plan.cooperative = grid.blocks > 1;
  plan.overlaps = grid.overlaps;
  plan.arguments = {
      argument(KernelArgument::Role::Input, buffer_bytes / 4),
      argument(KernelArgument::Role::Output, static_cast<std::size_t>(grid.blocks) * grid.threads)};
  return source;
}

}  // namespace whet
