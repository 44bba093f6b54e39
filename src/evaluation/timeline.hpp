#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace whet {

/// A phase of a timeline.
struct TimelinePhase {
  std::vector<std::string> tasks;  ///< their canonical names
  /// What blocks wait for in front of it: "launch" (the start of the kernel, and what the launch
  /// before still does), "step" (the step before, in a launch of several), "none", "block", "grid".
  std::string edge;
  bool has_teams = false;  ///< its tasks run side by side; the times are those of the first team

  bool operator==(const TimelinePhase&) const = default;
};

/// When a block did what of a phase, in order. Work lies between begin and wait, before the edge in
/// front of the phase, and between ready and end; where nothing begins before the edge, the first
/// three are equal and the block waits from the end of the phase before.
struct BlockPhase {
  double begin_ns = 0.0;
  double wait_ns = 0.0;
  double ready_ns = 0.0;
  double end_ns = 0.0;

  bool operator==(const BlockPhase&) const = default;
};

struct BlockTimeline {
  std::int64_t processor = 0;  ///< the SM or core that ran it
  double enter_ns = 0.0;       ///< when it turned to the step
  std::vector<BlockPhase> phases;

  bool operator==(const BlockTimeline&) const = default;
};

/// Where each block's first thread was during one step of a profile build; 0 is when the first
/// block turned to it.
struct Timeline {
  std::vector<TimelinePhase> phases;
  std::vector<BlockTimeline> blocks;
  int num_launches = 0;       ///< each time is the median over these
  std::string alignment;      ///< how the blocks' clocks were put together, in words
  double step_time_ns = 0.0;  ///< a step of the profile build, replayed
  bool has_time = true;       ///< false in the emulation, where a "ns" is one stamp and no time

  bool operator==(const Timeline&) const = default;
};

}  // namespace whet
