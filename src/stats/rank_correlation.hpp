#pragma once

#include <span>

namespace whet {

/// Spearman's: the correlation of ranks, ties sharing their mean rank; 0 where one side is all
/// ties. Both sides are as long as each other. Source: Kendall and Gibbons, "Rank Correlation
/// Methods", 1990, chapter 3.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace whet
