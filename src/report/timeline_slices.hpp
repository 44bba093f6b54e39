#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "evaluation/timeline.hpp"

namespace whet {

/// A stretch of a block's time.
struct TimelineSlice {
  enum class Kind {
    Launch,  ///< until the launch lets the first phase begin
    Wait,    ///< for the edge in front of the phase
    Work,
  };
  Kind kind = Kind::Work;
  std::size_t phase_idx = 0;
  double begin_ns = 0.0;
  double end_ns = 0.0;

  bool operator==(const TimelineSlice&) const = default;
};

/// What a block did from its entry to its end, without gaps; stretches of no length are left out.
std::vector<TimelineSlice> slices_of(const Timeline& timeline, const BlockTimeline& block);

/// When the last block ended.
double end_ns(const Timeline& timeline);

/// "1.62 µs"; in the emulation the bare number of stamps.
std::string format_stretch(const Timeline& timeline, double stretch_ns);
/// "mm1.fwd, map2".
std::string task_list(const TimelinePhase& phase);
/// "phase 2: mm1.fwd, map2".
std::string phase_label(const Timeline& timeline, std::size_t phase_idx);

/// What a timeline is of, in words.
struct TimelineTitle {
  std::string workload;
  std::string device;
  std::string configuration;
};

}  // namespace whet
