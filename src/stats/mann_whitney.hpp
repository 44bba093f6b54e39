#pragma once

#include <span>

namespace whet {

/// What the rank test of two independent sets of samples says.
struct MannWhitney {
  double u = 0.0;        ///< pairs in which the first set's value is larger, ties counting half
  double p_value = 1.0;  ///< two-sided, of the null hypothesis that both are drawn alike

  bool operator==(const MannWhitney&) const = default;
};

/// Exact without ties when one set has at most eight samples, else by the normal approximation with
/// corrections for ties and continuity. Neither set is empty.
/// Source: Mann and Whitney, Annals of Mathematical Statistics 18, 1947.
MannWhitney mann_whitney(std::span<const double> first, std::span<const double> second);

}  // namespace whet
