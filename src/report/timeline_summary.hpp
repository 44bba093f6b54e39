#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "evaluation/timeline.hpp"

namespace whet {

/// A phase over all blocks.
struct PhaseSummary {
  double work_ns = 0.0;      ///< median over blocks
  double max_work_ns = 0.0;  ///< of the block that works longest
  double wait_ns = 0.0;      ///< median over blocks, for the edge in front
  double begin_ns = 0.0;     ///< of the first block
  double end_ns = 0.0;       ///< of the last block

  bool operator==(const PhaseSummary&) const = default;
};

/// Where the time of a step goes, in numbers. The shares are fractions of all blocks' time from the
/// first block's entry to the last one's end, and sum to 1.
struct TimelineSummary {
  std::vector<PhaseSummary> phases;
  double total_ns = 0.0;
  double work_share = 0.0;
  double wait_share = 0.0;    ///< at edges, and for the end of the last block
  double launch_share = 0.0;  ///< until the launch lets a block's first phase begin

  bool operator==(const TimelineSummary&) const = default;
};

TimelineSummary summarize(const Timeline& timeline);

/// A line a phase, then the total with its shares, and what the stamps cost beside `plain_ns`, the
/// time of a step without them (0: not known).
std::string timeline_table(const Timeline& timeline, double plain_ns);
/// The same as an object; docs/formats/timeline.md.
Json timeline_document(const Timeline& timeline);

}  // namespace whet
