#include "tuner/looks.hpp"

#include <algorithm>

namespace whet {

const std::vector<Look>& looks() {
  // Few processes prove little at any level: what they may err is better spent later.
  static const std::vector<Look> all{{4, 0.05}, {6, 0.15}, {9, 0.2}, {13, 0.25}, {19, 0.35}};
  return all;
}

Selection select_at(
    const Look& look,
    const std::vector<Finalist>& finalists,
    std::size_t baseline,
    const SelectorOptions& options
) {
  SelectorOptions share = options;
  share.alpha *= look.alpha_share;
  return select(finalists, baseline, share);
}

double comparison_alpha(
    const Look& look, std::size_t num_finalists, const SelectorOptions& options
) {
  return kTieShare * options.alpha * look.alpha_share /
         std::max(1.0, static_cast<double>(num_finalists) - 1.0);
}

std::optional<Choice> select_by_looks(
    const std::function<Finalists(int num_processes)>& measure,
    const std::function<bool()>& may_go_on,
    const SelectorOptions& options
) {
  std::optional<Choice> choice;
  int num_processes = 0;
  for (const Look& look : looks()) {
    const Finalists finalists = measure(look.num_processes - num_processes);
    num_processes = look.num_processes;
    if (finalists.entries.empty()) {
      return std::nullopt;
    }
    choice = {look, select_at(look, finalists.entries, finalists.baseline, options)};
    const std::optional<double> within = choice->selection.within;
    const bool is_settled = within && *within <= options.indifference;
    if (is_settled || !may_go_on()) {
      break;
    }
  }
  return choice;
}

}  // namespace whet
