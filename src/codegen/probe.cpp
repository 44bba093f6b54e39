#include "codegen/probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "codegen/embedded.hpp"

namespace whet {
namespace {

struct ProbeText {
  Probe probe;
  std::string_view name;
  std::string_view text;  ///< for a GPU; that of the host is one file
  bool on_host;
};

const std::vector<ProbeText>& texts() {
  static const std::vector<ProbeText> list = {
      {Probe::Node, "node", embedded::probe_node, true},
      {Probe::GridBarrier, "grid_barrier", embedded::probe_grid_barrier, true},
      {Probe::BlockBarrier, "block_barrier", embedded::probe_block_barrier, false},
      {Probe::ClusterBarrier, "cluster_barrier", embedded::probe_cluster_barrier, false},
      {Probe::L2Latency, "l2_latency", embedded::probe_l2_latency, true},
      {Probe::L2Rate, "l2_rate", embedded::probe_l2_rate, true},
      {Probe::SharedLatency, "shared_latency", embedded::probe_shared_latency, true},
      {Probe::SharedRate, "shared_rate", embedded::probe_shared_rate, true},
      {Probe::Mma, "mma", embedded::probe_mma, false},
      {Probe::Fma, "fma", embedded::probe_fma, true},
      {Probe::Clock, "clock", "", true},
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

std::string gpu_text(const ProbeGrid& grid, Target target) {
  const bool emulated = target == Target::CudaEmulated;
  std::string text = fmt::format(
      "// whet probe {}\n{}{}{}{}constexpr int kBlocks = {}, kThreads = {};\n"
      "constexpr u32 kBufferBytes = {};\nconstexpr bool kOverlaps = {};\n{}{}{}",
      probe_name(grid.probe),
      embedded::types,
      emulated ? embedded::hooks : "",
      emulated ? embedded::emulated : embedded::cuda,
      embedded::edge,
      grid.blocks,
      grid.threads,
      probe_buffer_bytes(target),
      grid.overlaps,
      embedded::probe_arguments,
      text_of(grid.probe).text,
      embedded::probe_kernel
  );
  if (emulated) {
    text +=
        "extern \"C\" void whet_step_emulated(const EmulationHooks* hooks, const void* arguments) "
        "{\n  begin_emulation(hooks);\n"
        "  whet_step(*static_cast<const StepArguments*>(arguments));\n}\n";
  }
  return text;
}

std::string host_text(const ProbeGrid& grid, const DeviceLimits& limits) {
  return fmt::format(
      "// whet probe {0}\n{1}constexpr int kVectorBytes = {2};\n{3}{4}constexpr u32 kBlocks = "
      "{5};\n"
      "constexpr u32 kBufferBytes = {6};\n{7}{8}"
      "extern \"C\" void whet_step(const void* arguments, int block, int, void*) {{\n"
      "  const auto& args = *static_cast<const StepArguments*>(arguments);\n"
      "  const u32 result = repeat_{0}(args, args.ring_length, block);\n"
      "  static_cast<u32*>(args.tensors[1])[block] = result;\n}}\n",
      probe_name(grid.probe),
      embedded::types,
      limits.vector_bytes,
      embedded::cpu_threads,
      embedded::cpu_vectors,
      grid.blocks,
      probe_buffer_bytes(Target::Cpu),
      embedded::probe_arguments,
      embedded::probe_host
  );
}

}  // namespace

std::string_view probe_name(Probe probe) { return text_of(probe).name; }

std::vector<Probe> probes_of(const DeviceLimits& limits) {
  std::vector<Probe> probes;
  for (const ProbeText& text : texts()) {
    const bool on_gpu =
        !text.text.empty() && (text.probe != Probe::ClusterBarrier || has_clusters(limits));
    if (limits.target == Target::Cpu ? text.on_host : on_gpu) {
      probes.push_back(text.probe);
    }
  }
  return probes;
}

std::size_t probe_buffer_bytes(Target target) {
  constexpr std::size_t kMib = std::size_t{1} << 20;
  switch (target) {
    case Target::Cpu:
      return kMib / 4;  // behind the nearest cache, inside the next
    case Target::CudaEmulated:
      return kMib / 8;
    case Target::Cuda:
      break;
  }
  return 16 * kMib;
}

double probe_work(const ProbeGrid& grid, const DeviceLimits& limits) {
  const bool host = limits.target == Target::Cpu;
  // Of a thread: see the files of device/calibration.
  const auto work = [&](Probe probe) -> double {
    switch (probe) {
      case Probe::L2Rate:
        return host ? static_cast<double>(probe_buffer_bytes(limits.target)) : 8 * 16;
      case Probe::SharedRate:
        return host ? 16384 : 8 * 16;
      case Probe::Mma:
        return 8 * 2.0 * 16 * 8 * 16 / 32;
      case Probe::Fma:
        return host ? 10 * 2.0 * limits.vector_bytes / 4 : 8 * 8 * 2.0;
      case Probe::Clock:
        return 64;
      default:
        return 0;
    }
  };
  return work(grid.probe) * grid.blocks * grid.threads;
}

KernelSource probe_source(const ProbeGrid& grid, const DeviceLimits& limits) {
  const bool host = limits.target == Target::Cpu;
  const std::size_t buffer_bytes = probe_buffer_bytes(limits.target);
  KernelSource source;
  source.text = host ? host_text(grid, limits) : gpu_text(grid, limits.target);
  LaunchPlan& plan = source.plan;
  plan.target = limits.target;
  plan.arch = limits.arch;
  plan.blocks = grid.blocks;
  plan.threads = grid.threads;
  plan.dynamic_shared_bytes = host ? 0 : shared_bytes(grid);
  plan.workspace_bytes = LaunchPlan::kControlBytes;
  plan.cluster = grid.probe == Probe::ClusterBarrier;
  plan.cooperative = !host && grid.blocks > 1 && !plan.cluster;
  plan.overlaps = grid.overlaps;
  plan.arguments = {
      argument(KernelArgument::Role::Input, buffer_bytes / 4),
      argument(KernelArgument::Role::Output, static_cast<std::size_t>(grid.blocks) * grid.threads)};
  return source;
}

}  // namespace whet
