#include "tuner/comparison.hpp"

#include <cmath>

#include "base/error.hpp"
#include "stats/mean.hpp"
#include "tuner/pairs.hpp"

namespace whet {
namespace {

Comparison judge(double low, double high, double indifference) {
  const double same = std::log1p(indifference);
  if (low >= -same && high <= same) {
    return Comparison::Same;
  }
  if (high < 0.0) {
    return Comparison::Faster;
  }
  return low > 0.0 ? Comparison::Slower : Comparison::Undecided;
}

ComparedTimes compare_at(
    const Look& look, const ComparedBlocks& blocks, const SelectorOptions& options
) {
  const Pairs pairs({blocks.base, blocks.candidate}, options.process_sd);
  ComparedTimes compared;
  compared.num_processes = static_cast<int>(pairs.num_processes());
  // A side of the interval each.
  const double alpha = options.alpha * look.alpha_share / 2.0;
  const double high = pairs.upper_bound(1, 0, alpha);
  const double low = -pairs.upper_bound(0, 1, alpha);
  if (pairs.num_processes() > 0) {
    compared.ratio = std::exp(mean(pairs.rows()[1]) - mean(pairs.rows()[0]));
  }
  compared.low = std::exp(low);
  compared.high = std::exp(high);
  compared.verdict = judge(low, high, options.indifference);
  return compared;
}

}  // namespace

std::string_view comparison_name(Comparison comparison) {
  switch (comparison) {
    case Comparison::Faster:
      return "FASTER";
    case Comparison::Same:
      return "SAME";
    case Comparison::Slower:
      return "SLOWER";
    case Comparison::Undecided:
      return "UNDECIDED";
  }
  return "";
}

ComparedTimes compare_by_looks(
    const std::function<ComparedBlocks(int num_processes)>& measure, const SelectorOptions& options
) {
  ComparedTimes compared;
  int num_processes = 0;
  for (const Look& look : looks()) {
    const ComparedBlocks blocks = measure(look.num_processes - num_processes);
    num_processes = look.num_processes;
    compared = compare_at(look, blocks, options);
    if (compared.verdict != Comparison::Undecided) {
      break;
    }
  }
  return compared;
}

}  // namespace whet
