#include "tuner/aa_test.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "stats/quantile.hpp"

namespace whet {
namespace {

/// One process with `num_copies` copies of the configuration.
std::vector<InterleavedEntry> measure_copies(
    EvaluatorInterface& evaluator, InterleavedRequest request, std::size_t num_copies
) {
  const Configuration configuration = request.candidates.front();
  request.candidates.assign(num_copies, configuration);
  InterleavedResult result = evaluator.measure_interleaved(request);
  for (const InterleavedEntry& entry : result.candidates) {
    if (entry.status != Status::Ok) {
      throw EnvironmentError(fmt::format(
          "a copy of a valid candidate ended as {}: {}", status_name(entry.status), entry.detail
      ));
    }
  }
  return std::move(result.candidates);
}

double median_ns(const std::vector<SampleBlock>& blocks) {
  std::vector<double> times;
  for (const SampleBlock& block : blocks) {
    for (const Sample& sample : block.samples) {
      times.push_back(sample.time_ns);
    }
  }
  return median(times);
}

/// The baseline and the fastest others.
std::vector<std::size_t> fastest(const std::vector<double>& times_ns, int num_finalists) {
  std::vector<std::size_t> order(times_ns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) {
    return times_ns[a] < times_ns[b];
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(num_finalists) + 1));
  return order;
}

}  // namespace

AaTest run_aa_test(
    EvaluatorInterface& evaluator,
    const Configuration& configuration,
    int num_candidates,
    const SessionOptions& options
) {
  AaTest test;
  InterleavedRequest request{
      .candidates = {configuration},
      .num_processes = 1,
      .num_rounds = 1,
      .purpose = "screen",
      .seed = options.seed};
  for (int i = 0; i <= num_candidates; ++i) {
    test.screening_ns.push_back(median_ns(measure_copies(evaluator, request, 1).front().blocks));
  }
  for (const std::size_t i : fastest(test.screening_ns, options.num_finalists)) {
    Finalist& finalist = test.finalists.entries.emplace_back();
    finalist.configuration.values["copy"] = std::to_string(i);
  }
  request.num_rounds = 2;
  request.purpose = "final";
  int num_processes = 0;
  const auto measure = [&](int num_more) {
    request.num_processes = num_more;
    const auto measured = measure_copies(evaluator, request, test.finalists.entries.size());
    request.seed += static_cast<std::uint64_t>(num_more);
    num_processes += num_more;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      std::vector<SampleBlock>& blocks = test.finalists.entries[i].blocks;
      blocks.insert(blocks.end(), measured[i].blocks.begin(), measured[i].blocks.end());
    }
    return test.finalists;
  };
  const auto may_go_on = [] { return true; };
  test.choice = select_by_looks(measure, may_go_on, options.selector).value();
  if (num_processes < looks().back().num_processes) {  // settled early; the noise wants them all
    measure(looks().back().num_processes - num_processes);
  }
  for (std::size_t baseline = 0; baseline < test.finalists.entries.size(); ++baseline) {
    const Selection selection =
        select_at(looks().back(), test.finalists.entries, baseline, options.selector);
    test.num_false_wins += selection.leaves_baseline ? 1 : 0;
  }
  test.noise = noise_floor(test.finalists.entries);
  return test;
}

}  // namespace whet
