#pragma once

#include <cstdint>

#include "store/record_store.hpp"

/// Records for tests of the store.
namespace whet::records {

inline SessionInfo session_info() {
  return {
      .workload_key = "0123456789abcdef",
      .workload_name = "online",
      .workload_text = R"({"schema": "whet.workload/1"})",
      .device_class = "cuda:sm_90a:132:140GiB",
      .device_name = "NVIDIA H200",
      .target = Target::Cuda,
      .tolerance_set = "default",
      .options = {{"budget", "200"}, {"alpha", 0.05}},
      .versions = {{"nvrtc", "13.0"}, {"whet", "0.1.0"}},
      .seed = 0xffffffffffffffffu};
}

inline LookupKey lookup_key() {
  const SessionInfo info = session_info();
  return {
      .workload_key = info.workload_key,
      .device_class = info.device_class,
      .target = info.target,
      .tolerance_set = info.tolerance_set};
}

/// Block `number` of a process, with samples near `time_ns`.
inline SampleBlock sample_block(std::int64_t number, double time_ns) {
  SampleBlock block{
      .process = 3, .block = number, .num_steps = 20, .purpose = "screen", .samples = {}};
  for (int i = 0; i < 5; ++i) {
    block.samples.push_back(
        {.time_ns = time_ns + i, .clock_mhz = 1980.0, .temperature_c = 41.5, .throttled = i == 2}
    );
  }
  return block;
}

inline Evaluation evaluation(int tile, double time_ns) {
  return {
      .configuration = {.values = {{"partition", "grid"}, {"tile_m", std::to_string(tile)}}},
      .status = Status::Ok,
      .detail = "",
      .source_sha256 = "abcd",
      .compile_s = 1.25,
      .resources = {.registers = 96, .dynamic_shared_bytes = 40'000},
      .paths = {},
      .deterministic = true,
      .worst =
          TensorError{.tensor = "w1", .when = "replay", .error = 1e-4, .limit = 1e-3, .seed = 101},
      .blocks = {sample_block(0, time_ns), sample_block(5, time_ns + 1.0)}};
}

inline Decision decision(int tile) {
  return {
      .verdict = Verdict::Use,
      .winner = evaluation(tile, 0.0).configuration,
      .delegate_to = "",
      .time_ns = TimeSummary{.median = 2000.0, .low = 1990.0, .high = 2011.5},
      .steps_per_launch = 20,
      .tie_set = {evaluation(tile, 0.0).configuration, evaluation(tile + 1, 0.0).configuration},
      .baselines = {{.name = "libtorch-eager", .time_ns = {62700.0, 62600.0, 62900.0}}},
      .detail = {{"alpha", 0.05}}};
}

}  // namespace whet::records
