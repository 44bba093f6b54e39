#pragma once

#include <string_view>

/// The helper files of src/codegen/device, for emitted text.
namespace whet::embedded {

extern const std::string_view types;
extern const std::string_view cuda;
extern const std::string_view hooks;
extern const std::string_view emulated;
extern const std::string_view edge;
extern const std::string_view start;
extern const std::string_view team;
extern const std::string_view stamp;
extern const std::string_view stamp_clock_cuda;
extern const std::string_view stamp_clock_emulated;
extern const std::string_view stamp_clock_cpu;
extern const std::string_view elements;
extern const std::string_view gemm;
extern const std::string_view direct;
extern const std::string_view staged;
extern const std::string_view reduce;
extern const std::string_view probe_arguments;
extern const std::string_view probe_kernel;
extern const std::string_view probe_node;
extern const std::string_view probe_grid_barrier;
extern const std::string_view probe_block_barrier;
extern const std::string_view probe_cluster_barrier;
extern const std::string_view probe_l2_latency;
extern const std::string_view probe_l2_rate;
extern const std::string_view probe_shared_latency;
extern const std::string_view probe_shared_rate;
extern const std::string_view probe_mma;
extern const std::string_view probe_fma;
extern const std::string_view probe_host;
extern const std::string_view cpu_threads;
extern const std::string_view cpu_vectors;
extern const std::string_view cpu_pack;
extern const std::string_view cpu_gemm;

}  // namespace whet::embedded
