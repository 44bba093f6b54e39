#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/session_report.hpp"

/// Sessions for tests of reports.
namespace whet::reports {

/// Samples near `time_ns` of two blocks in each of `num_processes` fresh processes.
inline std::vector<SampleBlock> published_blocks(double time_ns, std::int64_t num_processes) {
  std::vector<SampleBlock> blocks;
  for (std::int64_t process = 0; process < num_processes; ++process) {
    for (const std::int64_t number : {0, 1}) {
      SampleBlock block{
          .process = process,
          .block = number,
          .num_steps = 20,
          .purpose = "publish",
          .samples = {}};
      for (int i = 0; i < 10; ++i) {
        const double share = static_cast<double>((7 * i + 3 * process + number) % 10) / 1000.0;
        block.samples.push_back(
            {.time_ns = time_ns * (1.0 + share), .clock_mhz = 1980.0, .temperature_c = 41.0}
        );
      }
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

inline Evaluation candidate(const std::string& tile, double time_ns) {
  Evaluation evaluation;
  evaluation.configuration.values = {{"partition", "grid"}, {"tile_m", tile}};
  evaluation.blocks = {
      {.process = 0,
       .block = 0,
       .num_steps = 20,
       .purpose = "screen",
       .samples = {{.time_ns = time_ns}, {.time_ns = time_ns}}}};
  return evaluation;
}

inline Evaluation failure(Status status, const std::string& detail) {
  Evaluation evaluation = candidate("256", 0.0);
  evaluation.status = status;
  evaluation.detail = detail;
  evaluation.blocks.clear();
  return evaluation;
}

/// A winner of 1 µs, a default of 2 µs, LibTorch at 60 µs in a graph, and failures, under a name
/// and with a detail that would be markup if they were not escaped.
inline SessionReport tuned() {
  SessionReport report{
      .workload = "<script>alert(\"on'line\")</script>",
      .key = "0123456789abcdef",
      .target = "cuda",
      .device = "NVIDIA H200 & \"more\"",
      .budget = "6s",
      .environment = {{"nvrtc", "13.0"}, {"whet", "0.1.0"}},
      .decision = {},
      .evaluations =
          {candidate("64", 2000.0),
           failure(Status::ConstraintViolated, "shared_memory: needs 3, has \"2\""),
           candidate("32", 1500.0),
           failure(Status::CompileFailed, "error: <b>no</b>\nfile.cu:1: 'x' & y"),
           candidate("16", 1010.0),
           candidate("16", 1040.0),
           candidate("16", 1030.0)},
      .limits_ns = {{20, 250.0}}};
  report.evaluations[5].configuration.values["partition"] = "block";
  report.evaluations[6].configuration.values["partition"] = "cluster";
  for (auto& [index, time_ns] : std::map<std::size_t, double>{{0, 2000.0}, {4, 1000.0}}) {
    for (SampleBlock& block : published_blocks(time_ns, 4)) {
      report.evaluations[index].blocks.push_back(std::move(block));
    }
  }
  Decision& decision = report.decision;
  decision.verdict = Verdict::Use;
  decision.winner = report.evaluations[4].configuration;
  decision.time_ns = TimeSummary{.median = 1000.0, .low = 990.0, .high = 1012.0};
  decision.steps_per_launch = 20;
  decision.baselines = {
      {.name = "default configuration", .time_ns = {2000.0, 1980.0, 2020.0}},
      {.name = "libtorch-eager", .time_ns = {800'000.0, 500'000.0, 1'200'000.0}},
      {.name = "libtorch-graph", .time_ns = {60'000.0, 59'000.0, 61'000.0}}};
  decision.detail = {{"alpha", 0.05}, {"peer_samples", Json::array()}};
  for (const SampleBlock& block : published_blocks(60'000.0, 4)) {
    Json times = Json::array();
    for (const Sample& sample : block.samples) {
      times.push_back(sample.time_ns);
    }
    decision.detail["peer_samples"].push_back(
        {{"name", "libtorch-graph"},
         {"process", block.process},
         {"block", block.block},
         {"purpose", block.purpose},
         {"time_ns", times}}
    );
  }
  return report;
}

/// As tuned, but nothing was valid.
inline SessionReport without_valid() {
  SessionReport report = tuned();
  report.workload = "nothing";
  report.decision = {};
  report.evaluations = {failure(Status::WrongResult, "w1: error 2, limit 1")};
  return report;
}

}  // namespace whet::reports
