#include "tuner/policy_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

#include "stats/binomial_interval.hpp"
#include "tuner/selector.hpp"

namespace whet {
namespace {

constexpr SimulatedTruth kTruths[] = {
    SimulatedTruth::Identical, SimulatedTruth::NearTies, SimulatedTruth::OneWinner};
// Streams of truths and of timings do not meet: one is for 2^32 tunings.
constexpr std::uint64_t kTruthStreams = std::uint64_t{1} << 63;

std::vector<double> draw_truth(SimulatedTruth truth, std::uint64_t seed, std::uint64_t stream) {
  if (truth == SimulatedTruth::Identical) {
    return std::vector<double>(41, 0.0);
  }
  const Philox random(seed, kTruthStreams + stream);
  std::vector<double> log_times{0.0};
  for (std::uint64_t i = 0; i < 60; ++i) {
    log_times.push_back(std::max(0.05 + 0.03 * random.normal(i), -0.03));
  }
  if (truth == SimulatedTruth::OneWinner) {
    log_times[1 + random.word(120) % 60] = -0.15;
  }
  return log_times;
}

double least_of(const std::vector<double>& log_times, const std::vector<std::size_t>& indices) {
  double least = log_times[indices.front()];
  for (const std::size_t i : indices) {
    least = std::min(least, log_times[i]);
  }
  return least;
}

/// Rounding is no error.
bool exceeds(double a, double b) { return a > b + 1e-12; }

bool is_false(const PolicyChoice& choice, const std::vector<double>& log_times) {
  const double pick = log_times[choice.pick];
  if (choice.pick != 0 && pick >= log_times[0]) {
    return true;
  }
  if (choice.finalists.empty()) {
    return false;
  }
  const double fastest = least_of(log_times, choice.finalists);
  if (choice.tie_set.empty() || exceeds(least_of(log_times, choice.tie_set), fastest)) {
    return true;
  }
  return choice.within && exceeds(pick - fastest, std::log1p(*choice.within));
}

PolicyTally tally(
    const SelectionPolicy& policy,
    const NoiseSetting& setting,
    SimulatedTruth truth,
    int num_tunings,
    std::uint64_t seed
) {
  PolicyTally result{
      .policy = policy.name,
      .setting = setting.name,
      .truth = truth_name(truth),
      .num_tunings = num_tunings};
  const double indifference = SelectorOptions{}.indifference;
  for (int tuning = 0; tuning < num_tunings; ++tuning) {
    const auto stream = static_cast<std::uint64_t>(tuning);
    const std::vector<double> log_times = draw_truth(truth, seed, stream);
    SimulatedTimings timings(log_times, setting, seed, stream);
    const PolicyChoice choice = policy.choose(timings);
    const double regret =
        log_times[choice.pick] - *std::min_element(log_times.begin(), log_times.end());
    result.num_left_baseline += choice.pick != 0 ? 1 : 0;
    result.num_false_claims += is_false(choice, log_times) ? 1 : 0;
    result.num_within += choice.within && *choice.within <= indifference ? 1 : 0;
    result.num_slow += exceeds(regret, std::log1p(indifference)) ? 1 : 0;
    result.mean_regret += std::expm1(regret) / num_tunings;
    result.mean_samples += static_cast<double>(timings.num_samples()) / num_tunings;
  }
  return result;
}

std::string percent(std::int64_t count, std::int64_t total) {
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(count) / static_cast<double>(total));
}

std::string row(const PolicyTally& tally) {
  const Interval claims = binomial_interval(tally.num_false_claims, tally.num_tunings, 0.95);
  return fmt::format(
      "| {} | {} | {} | {} [{:.1f}, {:.1f}] | {} | {} | {:.2f} % | {:.0f} |\n",
      tally.setting,
      tally.policy,
      percent(tally.num_left_baseline, tally.num_tunings),
      percent(tally.num_false_claims, tally.num_tunings),
      100.0 * claims.low,
      100.0 * claims.high,
      percent(tally.num_within, tally.num_tunings),
      percent(tally.num_slow, tally.num_tunings),
      100.0 * tally.mean_regret,
      tally.mean_samples
  );
}

}  // namespace

std::string truth_name(SimulatedTruth truth) {
  switch (truth) {
    case SimulatedTruth::Identical:
      return "identical";
    case SimulatedTruth::NearTies:
      return "near ties";
    case SimulatedTruth::OneWinner:
      return "one winner";
  }
  return "";
}

std::vector<PolicyTally> compare_policies(
    const std::vector<NoiseSetting>& settings,
    const std::vector<SelectionPolicy>& policies,
    int num_tunings,
    std::uint64_t seed
) {
  std::vector<std::function<PolicyTally()>> cells;
  for (const SimulatedTruth truth : kTruths) {
    for (const NoiseSetting& setting : settings) {
      for (const SelectionPolicy& policy : policies) {
        cells.push_back([&, truth] { return tally(policy, setting, truth, num_tunings, seed); });
      }
    }
  }
  // No cell depends on another, so that the number of threads changes nothing.
  std::vector<PolicyTally> tallies(cells.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (std::size_t cell = next++; cell < cells.size(); cell = next++) {
        tallies[cell] = cells[cell]();
      }
    });
  }
  threads.clear();  // joins
  return tallies;
}

Json policies_document(const std::vector<PolicyTally>& tallies, std::uint64_t seed) {
  const SelectorOptions options;
  Json rows = Json::array();
  for (const PolicyTally& tally : tallies) {
    rows.push_back(
        {{"truth", tally.truth},
         {"setting", tally.setting},
         {"policy", tally.policy},
         {"num_tunings", tally.num_tunings},
         {"num_left_baseline", tally.num_left_baseline},
         {"num_false_claims", tally.num_false_claims},
         {"num_within", tally.num_within},
         {"num_slow", tally.num_slow},
         {"mean_regret", tally.mean_regret},
         {"mean_samples", tally.mean_samples}}
    );
  }
  return {
      {"schema", "whet.policies/1"},
      {"seed", seed},
      {"alpha", options.alpha},
      {"indifference", options.indifference},
      {"tallies", std::move(rows)}};
}

std::string policies_markdown(const std::vector<PolicyTally>& tallies) {
  std::string text;
  std::string truth;
  for (const PolicyTally& tally : tallies) {
    if (tally.truth != truth) {
      truth = tally.truth;
      text += fmt::format("{}## {}\n\n", text.empty() ? "" : "\n", truth);
      text +=
          "| setting | policy | leaves the baseline | false claims (95 % interval) |"
          " claims \"within 1 %\" | more than 1 % slower than the best | mean regret | samples |\n"
          "|---|---|---|---|---|---|---|---|\n";
    }
    text += row(tally);
  }
  return text;
}

}  // namespace whet
