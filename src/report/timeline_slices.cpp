#include "report/timeline_slices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/format.hpp"

namespace whet {

std::vector<TimelineSlice> slices_of(const Timeline& timeline, const BlockTimeline& block) {
  using Kind = TimelineSlice::Kind;
  std::vector<TimelineSlice> slices;
  double now_ns = block.enter_ns;
  const auto until = [&](Kind kind, std::size_t phase_idx, double end_ns) {
    if (end_ns > now_ns) {
      slices.push_back({kind, phase_idx, now_ns, end_ns});
      now_ns = end_ns;
    }
  };
  for (std::size_t p = 0; p < block.phases.size(); ++p) {
    const BlockPhase& phase = block.phases[p];
    const Kind waiting = timeline.phases[p].edge == "launch" ? Kind::Launch : Kind::Wait;
    until(waiting, p, phase.begin_ns);
    until(Kind::Work, p, phase.wait_ns);
    until(waiting, p, phase.ready_ns);
    until(Kind::Work, p, phase.end_ns);
  }
  return slices;
}

double end_ns(const Timeline& timeline) {
  double last_ns = 0.0;
  for (const BlockTimeline& block : timeline.blocks) {
    last_ns = std::max(last_ns, block.phases.empty() ? block.enter_ns : block.phases.back().end_ns);
  }
  return last_ns;
}

std::string format_stretch(const Timeline& timeline, double stretch_ns) {
  return timeline.has_time ? format_time(stretch_ns) : fmt::format("{:.0f}", stretch_ns);
}

std::string task_list(const TimelinePhase& phase) {
  return fmt::format("{}", fmt::join(phase.tasks, ", "));
}

std::string phase_label(const Timeline& timeline, std::size_t phase_idx) {
  return fmt::format("phase {}: {}", phase_idx + 1, task_list(timeline.phases[phase_idx]));
}

}  // namespace whet
