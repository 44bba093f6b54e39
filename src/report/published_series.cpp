#include "report/published_series.hpp"

#include <algorithm>
#include <iterator>

namespace whet {
namespace {

constexpr const char* kPurpose = "publish";

std::vector<SampleBlock> published_blocks(const Evaluation& evaluation) {
  std::vector<SampleBlock> blocks;
  for (const SampleBlock& block : evaluation.blocks) {
    if (block.purpose == kPurpose && !block.samples.empty()) {
      blocks.push_back(block);
    }
  }
  return blocks;
}

std::optional<TimeSummary> baseline_time(const Decision& decision, const std::string& name) {
  const auto found = std::ranges::find(decision.baselines, name, &MeasuredBaseline::name);
  return found == decision.baselines.end() ? std::nullopt : std::optional(found->time_ns);
}

/// What a candidate was that was measured after the choice and is not the winner.
std::string rival_name(const SessionReport& report, bool is_default) {
  if (is_default) {
    return "default configuration";
  }
  return report.decision.detail.contains("unconfirmed") ? "unconfirmed" : "fastest screened";
}

void add_candidates(const SessionReport& report, std::vector<PublishedSeries>& all) {
  const Decision& decision = report.decision;
  for (const Evaluation& evaluation : report.evaluations) {
    std::vector<SampleBlock> blocks = published_blocks(evaluation);
    if (blocks.empty()) {
      continue;
    }
    const bool is_default = evaluation.configuration == report.evaluations.front().configuration;
    if (evaluation.configuration == decision.winner) {
      all.insert(
          all.begin(),
          {.name = is_default ? "winner (the default)" : "winner",
           .colour = 0,
           .time_ns = decision.time_ns,
           .blocks = std::move(blocks)}
      );
      continue;
    }
    const std::string name = rival_name(report, is_default);
    all.push_back(
        {.name = name,
         .colour = 1,
         .time_ns = baseline_time(decision, name),
         .blocks = std::move(blocks)}
    );
  }
}

void add_peers(const Decision& decision, std::vector<PublishedSeries>& all) {
  std::size_t colour = 2;
  for (auto& [name, block] : peer_blocks(decision)) {
    if (block.purpose != kPurpose || block.samples.empty()) {
      continue;
    }
    auto series = std::ranges::find(all, name, &PublishedSeries::name);
    if (series == all.end()) {
      all.push_back(
          {.name = name, .colour = colour, .time_ns = baseline_time(decision, name), .blocks = {}}
      );
      series = std::prev(all.end());
      ++colour;
    }
    series->blocks.push_back(std::move(block));
  }
}

}  // namespace

std::vector<PublishedSeries> published_series(const SessionReport& report) {
  std::vector<PublishedSeries> all;
  add_candidates(report, all);
  add_peers(report.decision, all);
  return all;
}

std::vector<double> times_ns(const PublishedSeries& series) {
  std::vector<double> times;
  for (const auto& [process, of_process] : times_by_process(series)) {
    times.insert(times.end(), of_process.begin(), of_process.end());
  }
  return times;
}

std::map<std::int64_t, std::vector<double>> times_by_process(const PublishedSeries& series) {
  std::map<std::int64_t, std::vector<double>> times;
  for (const SampleBlock& block : series.blocks) {
    for (const Sample& sample : block.samples) {
      times[block.process].push_back(sample.time_ns);
    }
  }
  return times;
}

std::vector<std::pair<std::string, SampleBlock>> peer_blocks(const Decision& decision) {
  std::vector<std::pair<std::string, SampleBlock>> blocks;
  for (const Json& entry : decision.detail.value("peer_samples", Json::array())) {
    if (!entry.is_object()) {
      continue;
    }
    SampleBlock block{
        .process = entry.value("process", std::int64_t{0}),
        .block = entry.value("block", std::int64_t{0}),
        .num_steps = 0,
        .purpose = entry.value("purpose", ""),
        .samples = {}};
    for (const double time_ns : entry.value("time_ns", std::vector<double>())) {
      block.samples.push_back({.time_ns = time_ns});
    }
    blocks.emplace_back(entry.value("name", ""), std::move(block));
  }
  return blocks;
}

}  // namespace whet
