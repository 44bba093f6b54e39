#include "tuner/selection_policies.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "stats/mean.hpp"
#include "stats/quantile.hpp"
#include "tuner/looks.hpp"
#include "tuner/selector.hpp"
#include "tuner/session.hpp"

namespace whet {
namespace {

constexpr int kScreenSamples = 50;  // of a block on a GPU
constexpr int kFinalRounds = 2;

using Times = std::vector<double>;

/// Times of each candidate, each in a process of its own.
std::vector<Times> screen(SimulatedTimings& timings, int num_samples) {
  std::vector<Times> times;
  for (std::size_t i = 0; i < timings.num_candidates(); ++i) {
    // There and back of one candidate is two blocks in a row.
    const auto blocks = timings.run_process({i}, 1, (num_samples + 1) / 2);
    Times own;
    for (const SampleBlock& block : blocks.front()) {
      for (const Sample& sample : block.samples) {
        own.push_back(sample.time_ns);
      }
    }
    own.resize(static_cast<std::size_t>(num_samples));
    times.push_back(std::move(own));
  }
  return times;
}

PolicyChoice lowest(
    SimulatedTimings& timings, int num_samples, const std::function<double(const Times&)>& score
) {
  std::vector<double> scores;
  for (const Times& times : screen(timings, num_samples)) {
    scores.push_back(score(times));
  }
  const auto least = std::min_element(scores.begin(), scores.end());
  PolicyChoice choice;
  choice.pick = static_cast<std::size_t>(std::distance(scores.begin(), least));
  return choice;
}

PolicyChoice lowest_minimum(SimulatedTimings& timings) {
  return lowest(timings, 100, [](const Times& times) {
    return *std::min_element(times.begin(), times.end());
  });
}

PolicyChoice lowest_mean_of_7(SimulatedTimings& timings) {
  return lowest(timings, 7, [](const Times& times) { return mean(times); });
}

PolicyChoice lowest_median_of_7(SimulatedTimings& timings) {
  return lowest(timings, 7, [](const Times& times) { return median(times); });
}

PolicyChoice quantiles_apart(SimulatedTimings& timings) {
  const std::vector<Times> all = screen(timings, 200);
  PolicyChoice choice;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (quantile(all[i], 0.8) < quantile(all[choice.pick], 0.2) / 1.03) {
      choice.pick = i;
    }
  }
  return choice;
}

/// The baseline and the fastest others by their screening medians, as many as a session takes.
std::vector<std::size_t> screened_finalists(SimulatedTimings& timings) {
  const std::vector<Times> all = screen(timings, kScreenSamples);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> medians;
  for (const Times& times : all) {
    medians.push_back(median(times));
  }
  std::sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) {
    return medians[a] < medians[b];
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(SessionOptions{}.num_finalists) + 1)
  );
  return order;
}

std::vector<Finalist> named_finalists(const std::vector<std::size_t>& candidates) {
  std::vector<Finalist> finalists(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    finalists[i].configuration.values["candidate"] = std::to_string(candidates[i]);
  }
  return finalists;
}

/// Adds blocks of fresh processes.
void measure(
    SimulatedTimings& timings,
    const std::vector<std::size_t>& candidates,
    int num_processes,
    std::vector<Finalist>& finalists
) {
  for (int p = 0; p < num_processes; ++p) {
    const auto blocks = timings.run_process(candidates, kFinalRounds, kScreenSamples);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      finalists[i].blocks.insert(finalists[i].blocks.end(), blocks[i].begin(), blocks[i].end());
    }
  }
}

std::vector<Finalist> measure_afresh(
    SimulatedTimings& timings, const std::vector<std::size_t>& candidates, int num_processes
) {
  std::vector<Finalist> finalists = named_finalists(candidates);
  measure(timings, candidates, num_processes, finalists);
  return finalists;
}

PolicyChoice interleaved_in_one_process(SimulatedTimings& timings) {
  const std::vector<std::size_t> candidates = screened_finalists(timings);
  const std::vector<Finalist> finalists = measure_afresh(timings, candidates, 1);
  PolicyChoice choice;
  double fastest_ns = 0.0;
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    const double time_ns = summarize(finalists[i].blocks, 0.05)->median;
    if (i == 0 || time_ns < fastest_ns) {
      fastest_ns = time_ns;
      choice.pick = candidates[i];
    }
  }
  return choice;
}

PolicyChoice ours(SimulatedTimings& timings) {
  const SessionOptions options;
  PolicyChoice choice;
  choice.finalists = screened_finalists(timings);
  Finalists finalists{.entries = named_finalists(choice.finalists), .baseline = 0};
  const auto measure_more = [&](int num_processes) {
    measure(timings, choice.finalists, num_processes, finalists.entries);
    return finalists;
  };
  const auto may_go_on = [] { return true; };
  const Selection selection =
      select_by_looks(measure_more, may_go_on, options.selector).value().selection;
  for (const std::size_t tied : selection.tie_set) {
    choice.tie_set.push_back(choice.finalists[tied]);
  }
  choice.within = selection.within;
  choice.pick = choice.finalists[selection.pick];
  if (choice.pick != 0) {
    // A winner that fresh processes do not find faster is none.
    const std::vector<Finalist> fresh =
        measure_afresh(timings, {0, choice.pick}, options.num_publish_processes);
    const double alpha = options.selector.alpha;
    if (summarize(fresh[1].blocks, alpha)->median >= summarize(fresh[0].blocks, alpha)->median) {
      choice.pick = 0;
      choice.within.reset();
    }
  }
  return choice;
}

}  // namespace

const std::vector<SelectionPolicy>& selection_policies() {
  static const std::vector<SelectionPolicy> policies{
      {"whet", ours},
      {"lowest minimum of 100", lowest_minimum},
      {"lowest mean of 7", lowest_mean_of_7},
      {"lowest median of 7", lowest_median_of_7},
      {"p80 < p20 / 1.03, in order", quantiles_apart},
      {"finalists interleaved in one process", interleaved_in_one_process}};
  return policies;
}

}  // namespace whet
