#include "tuner/deciding.hpp"

#include <algorithm>
#include <utility>

#include "schedule/configuration.hpp"

namespace whet {
namespace {

/// A winner that fresh processes do not find faster than the baseline is no winner.
bool confirm(
    Decision& decision, const std::optional<TimeSummary>& baseline_ns, const Configuration& baseline
) {
  if (decision.verdict != Verdict::Use || !decision.time_ns || !baseline_ns ||
      decision.time_ns->median < baseline_ns->median) {
    return true;
  }
  decision.detail["unconfirmed"] = {
      {"configuration", to_text(*decision.winner)}, {"median_ns", decision.time_ns->median}};
  decision.verdict = Verdict::KeepBaseline;
  decision.winner = baseline;
  decision.time_ns = baseline_ns;
  return false;
}

/// The peers' times, and the fastest peer that is surely faster than ours.
void compare_with_peers(
    Decision& decision,
    const std::vector<SampleBlock>& ours,
    const std::vector<FreshSamples::Peer>& peers,
    double alpha
) {
  double fastest_ns = 0.0;
  for (const FreshSamples::Peer& peer : peers) {
    const auto time = summarize(peer.blocks, alpha);
    if (!time) {
      continue;
    }
    decision.baselines.push_back({.name = peer.name, .time_ns = *time, .steps_per_launch = 1});
    const bool is_fastest = decision.delegate_to.empty() || time->median < fastest_ns;
    if (is_fastest && surely_faster(peer.blocks, ours, alpha)) {
      decision.verdict = Verdict::Delegate;
      decision.delegate_to = peer.name;
      fastest_ns = time->median;
    }
  }
}

}  // namespace

std::vector<std::size_t> choose_finalists(
    const std::vector<Evaluation>& evaluations, const Configuration& baseline, int num_finalists
) {
  std::vector<std::size_t> finalists;
  std::vector<std::pair<double, std::size_t>> others;
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    const std::optional<double> time = median_time_ns(evaluations[i], "screen");
    if (evaluations[i].status != Status::Ok || !time) {
      continue;
    }
    if (evaluations[i].configuration == baseline) {
      finalists.push_back(i);
    } else {
      others.emplace_back(*time, i);
    }
  }
  // Where the baseline is not valid, the fastest takes its place.
  std::sort(others.begin(), others.end());
  for (const auto& [time, index] : others) {
    if (finalists.size() <= static_cast<std::size_t>(num_finalists)) {
      finalists.push_back(index);
    }
  }
  return finalists;
}

std::vector<SampleBlock> blocks_for(
    const Evaluation& evaluation, const std::string& purpose, std::int64_t first_process
) {
  std::vector<SampleBlock> result;
  for (const SampleBlock& block : evaluation.blocks) {
    if (block.purpose == purpose && block.process >= first_process) {
      result.push_back(block);
    }
  }
  return result;
}

Finalists finalists_with_blocks(
    const std::vector<Evaluation>& evaluations,
    const std::vector<std::size_t>& indices,
    const Configuration& baseline,
    std::int64_t first_process
) {
  Finalists finalists;
  for (const std::size_t index : indices) {
    const Evaluation& evaluation = evaluations[index];
    if (evaluation.configuration == baseline) {
      finalists.baseline = finalists.entries.size();
    }
    finalists.entries.push_back(
        {.configuration = evaluation.configuration,
         .deterministic = evaluation.deterministic,
         .resources = evaluation.resources,
         .blocks = blocks_for(evaluation, "final", first_process)}
    );
  }
  return finalists;
}

Decision advise(const Choice& choice, const Finalists& finalists, const SelectorOptions& options) {
  const Selection& selection = choice.selection;
  Decision decision;
  decision.verdict = selection.leaves_baseline ? Verdict::Use : Verdict::KeepBaseline;
  decision.winner = finalists.entries[selection.pick].configuration;
  for (const std::size_t tied : selection.tie_set) {
    decision.tie_set.push_back(finalists.entries[tied].configuration);
  }
  decision.detail["num_processes"] = selection.num_processes;
  decision.detail["mean_log_ratio_to_baseline"] = selection.mean_log_ratio;
  decision.detail["alpha"] = options.alpha;
  decision.detail["alpha_share"] = choice.look.alpha_share;
  decision.detail["indifference"] = options.indifference;
  if (options.process_sd > 0.0) {
    decision.detail["process_sd"] = options.process_sd;
  }
  if (selection.within) {
    decision.detail["within"] = *selection.within;
  }
  return decision;
}

void publish(Decision& decision, const FreshSamples& samples, const SelectorOptions& options) {
  decision.time_ns = summarize(samples.winner, options.alpha);
  const auto baseline_ns = summarize(samples.baseline_blocks, options.alpha);
  const bool is_confirmed = confirm(decision, baseline_ns, samples.baseline);
  decision.steps_per_launch = steps_per_launch(*decision.winner);
  if (baseline_ns) {
    decision.baselines.push_back(
        {.name = samples.is_default ? "default configuration" : "fastest screened",
         .time_ns = *baseline_ns,
         .steps_per_launch = steps_per_launch(samples.baseline)}
    );
  }
  const auto& ours = is_confirmed ? samples.winner : samples.baseline_blocks;
  compare_with_peers(decision, ours, samples.peers, options.alpha);
}

}  // namespace whet
