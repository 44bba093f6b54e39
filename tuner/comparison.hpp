#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "tuner/looks.hpp"

namespace whet {

/// What is known of a candidate beside another.
enum class Comparison {
  Faster,     ///< surely faster
  Same,       ///< surely within the indifference, either way
  Slower,     ///< surely slower
  Undecided,  ///< none of these
};
/// "FASTER", "SAME", "SLOWER", "UNDECIDED".
std::string_view comparison_name(Comparison comparison);

/// A candidate's time / the base's, with the interval of the last look.
struct ComparedTimes {
  Comparison verdict = Comparison::Undecided;
  double ratio = 1.0;
  double low = 0.0;
  double high = 0.0;  ///< infinite where too few processes say nothing
  int num_processes = 0;
};

/// Blocks of the base and of the candidate from the same processes.
struct ComparedBlocks {
  std::vector<SampleBlock> base;
  std::vector<SampleBlock> candidate;
};

/// Look after look until there is a verdict, or to the last: P(the verdict is given and false) is
/// at most alpha. `measure` adds blocks of so many fresh processes and returns all. What is within
/// the indifference is SAME even if it is surely a little faster or slower.
ComparedTimes compare_by_looks(
    const std::function<ComparedBlocks(int num_processes)>& measure, const SelectorOptions& options
);

}  // namespace whet
