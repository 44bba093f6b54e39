#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "tuner/selector.hpp"

namespace whet {

/// A comparison of the finalists once they ran in so many processes.
struct Look {
  int num_processes = 0;
  double alpha_share = 0.0;  ///< what of the selector's alpha falls to it
};

/// The comparisons that a session may make. Their shares add up to 1, so that it may stop after any
/// of them and for any reason without erring more often than alpha.
const std::vector<Look>& looks();

/// What `look` makes of finalists that ran in its number of processes.
Selection select_at(
    const Look& look,
    const std::vector<Finalist>& finalists,
    std::size_t baseline,
    const SelectorOptions& options
);

/// With which probability a comparison of two of `num_finalists` may err at `look`.
double comparison_alpha(
    const Look& look, std::size_t num_finalists, const SelectorOptions& options
);

struct Finalists {
  std::vector<Finalist> entries;
  std::size_t baseline = 0;
};

/// What the last look made of the finalists.
struct Choice {
  Look look;
  Selection selection;
};

/// Look after look until the pick is surely within the indifference of the fastest finalist, until
/// `may_go_on` says no, or to the last. `measure` adds blocks of so many fresh processes and
/// returns the finalists that are left with all their blocks. Nothing when none is left.
std::optional<Choice> select_by_looks(
    const std::function<Finalists(int num_processes)>& measure,
    const std::function<bool()>& may_go_on,
    const SelectorOptions& options
);

}  // namespace whet
