#include "tuner/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "tuner/deciding.hpp"

namespace whet {
namespace {

std::set<std::int64_t> processes_of(const std::vector<SampleBlock>& blocks) {
  std::set<std::int64_t> processes;
  for (const SampleBlock& block : blocks) {
    processes.insert(block.process);
  }
  return processes;
}

const Evaluation& evaluation_of(
    const std::vector<Evaluation>& evaluations, const Configuration& configuration
) {
  const auto found = std::ranges::find(evaluations, configuration, &Evaluation::configuration);
  WHET_CHECK(found != evaluations.end(), "no evaluation of {}", to_text(configuration));
  return *found;
}

/// Those that ran in every process of the choice: one that failed on the way has left it.
std::vector<std::size_t> stored_finalists(
    const std::vector<Evaluation>& evaluations, std::int64_t first_process
) {
  std::vector<std::size_t> counts(evaluations.size());
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    counts[i] = processes_of(blocks_for(evaluations[i], "final", first_process)).size();
  }
  const std::size_t most = counts.empty() ? 0 : *std::ranges::max_element(counts);
  std::vector<std::size_t> finalists;
  for (const std::size_t i : choose_finalists(
           evaluations, evaluations.front().configuration, static_cast<int>(evaluations.size())
       )) {
    if (most > 0 && counts[i] == most) {
      finalists.push_back(i);
    }
  }
  return finalists;
}

std::vector<FreshSamples::Peer> stored_peers(const Json& detail) {
  std::vector<FreshSamples::Peer> peers;
  for (const Json& entry : detail.value("peer_samples", Json::array())) {
    const auto name = entry.at("name").get<std::string>();
    auto peer = std::ranges::find(peers, name, &FreshSamples::Peer::name);
    if (peer == peers.end()) {
      peer = peers.insert(peers.end(), {.name = name, .blocks = {}});
    }
    SampleBlock block{
        .process = entry.at("process").get<std::int64_t>(),
        .block = entry.at("block").get<std::int64_t>(),
        .purpose = entry.at("purpose").get<std::string>(),
        .samples = {}};
    for (const Json& time_ns : entry.at("time_ns")) {
      block.samples.push_back({.time_ns = time_ns.get<double>()});
    }
    peer->blocks.push_back(std::move(block));
  }
  return peers;
}

/// What is recomputed, without what is only carried along.
Json comparable(const Decision& decision) {
  Json json = to_json(decision);
  Json figures = Json::object();
  for (const char* key : {"num_processes", "mean_log_ratio_to_baseline", "within", "unconfirmed"}) {
    if (decision.detail.contains(key)) {
      figures[key] = decision.detail[key];
    }
  }
  json["detail"] = std::move(figures);
  if (decision.tie_set.empty()) {
    json.erase("tie_set");
  }
  return json;
}

}  // namespace

Decision replay(const std::vector<Evaluation>& evaluations, const Decision& decision) {
  const Json& detail = decision.detail;
  const auto first_process = detail.value("first_process", std::int64_t{0});
  const std::vector<std::size_t> indices = evaluations.empty()
                                               ? std::vector<std::size_t>{}
                                               : stored_finalists(evaluations, first_process);
  if (indices.empty()) {
    return {};
  }
  const SelectorOptions options{
      .alpha = detail.value("alpha", SelectorOptions{}.alpha),
      .indifference = detail.value("indifference", SelectorOptions{}.indifference),
      .process_sd = detail.value("process_sd", 0.0)};
  const Configuration& default_configuration = evaluations.front().configuration;
  const Finalists finalists =
      finalists_with_blocks(evaluations, indices, default_configuration, first_process);
  // Decisions that are older than looks spent all of alpha at once.
  const Look look{
      .num_processes = detail.value("num_processes", 0),
      .alpha_share = detail.value("alpha_share", 1.0)};
  const Choice choice{look, select_at(look, finalists.entries, finalists.baseline, options)};
  Decision again = advise(choice, finalists, options);
  const Configuration& baseline = finalists.entries[finalists.baseline].configuration;
  publish(
      again,
      {.winner = blocks_for(evaluation_of(evaluations, *again.winner), "publish", first_process),
       .baseline = baseline,
       .is_default = baseline == default_configuration,
       .baseline_blocks =
           blocks_for(evaluation_of(evaluations, baseline), "publish", first_process),
       .peers = stored_peers(detail)},
      options
  );
  return again;
}

std::vector<std::string> differences(const Decision& decided, const Decision& replayed) {
  const Json before = comparable(decided);
  Json after = comparable(replayed);
  if (decided.tie_set.empty()) {
    after.erase("tie_set");
  }
  std::set<std::string> keys;
  for (const Json& json : {before, after}) {
    for (const auto& [key, value] : json.items()) {
      keys.insert(key);
    }
  }
  std::vector<std::string> sentences;
  for (const std::string& key : keys) {
    // The store sorts keys; plain json compares without their order.
    const nlohmann::json was = before.value(key, Json());
    const nlohmann::json is = after.value(key, Json());
    if (was != is) {
      sentences.push_back(fmt::format("{}: decided {}, replayed {}", key, was.dump(), is.dump()));
    }
  }
  return sentences;
}

}  // namespace whet
