#include "report/timeline_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/format.hpp"
#include "report/timeline_slices.hpp"
#include "stats/quantile.hpp"

namespace whet {
namespace {

using Kind = TimelineSlice::Kind;

PhaseSummary summarize_phase(const Timeline& timeline, std::size_t phase_idx) {
  std::vector<double> work_ns;
  std::vector<double> wait_ns;
  PhaseSummary summary{.begin_ns = end_ns(timeline)};
  for (const BlockTimeline& block : timeline.blocks) {
    const BlockPhase& phase = block.phases[phase_idx];
    const double before_ns = phase_idx == 0 ? block.enter_ns : block.phases[phase_idx - 1].end_ns;
    work_ns.push_back(phase.wait_ns - phase.begin_ns + phase.end_ns - phase.ready_ns);
    wait_ns.push_back(phase.begin_ns - before_ns + phase.ready_ns - phase.wait_ns);
    summary.begin_ns = std::min(summary.begin_ns, phase.begin_ns);
    summary.end_ns = std::max(summary.end_ns, phase.end_ns);
  }
  summary.work_ns = median(work_ns);
  summary.max_work_ns = *std::max_element(work_ns.begin(), work_ns.end());
  summary.wait_ns = median(wait_ns);
  return summary;
}

}  // namespace

TimelineSummary summarize(const Timeline& timeline) {
  TimelineSummary summary;
  for (std::size_t p = 0; p < timeline.phases.size(); ++p) {
    summary.phases.push_back(summarize_phase(timeline, p));
  }
  summary.total_ns = end_ns(timeline);
  if (summary.total_ns <= 0.0) {
    return summary;
  }
  const double all_ns = summary.total_ns * static_cast<double>(timeline.blocks.size());
  for (const BlockTimeline& block : timeline.blocks) {
    summary.launch_share += block.enter_ns / all_ns;
    for (const TimelineSlice& slice : slices_of(timeline, block)) {
      const double share = (slice.end_ns - slice.begin_ns) / all_ns;
      summary.work_share += slice.kind == Kind::Work ? share : 0.0;
      summary.launch_share += slice.kind == Kind::Launch ? share : 0.0;
    }
  }
  summary.wait_share = std::max(1.0 - summary.work_share - summary.launch_share, 0.0);
  return summary;
}

std::string timeline_table(const Timeline& timeline, double plain_ns) {
  const TimelineSummary summary = summarize(timeline);
  constexpr const char* kRow = "{:>5}  {:<6}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {}\n";
  std::string text =
      fmt::format(kRow, "phase", "behind", "wait", "work", "most", "from", "to", "tasks");
  bool has_teams = false;
  for (std::size_t p = 0; p < summary.phases.size(); ++p) {
    const PhaseSummary& phase = summary.phases[p];
    const TimelinePhase& what = timeline.phases[p];
    has_teams = has_teams || what.has_teams;
    text += fmt::format(
        kRow,
        p + 1,
        what.edge,
        format_stretch(timeline, phase.wait_ns),
        format_stretch(timeline, phase.work_ns),
        format_stretch(timeline, phase.max_work_ns),
        format_stretch(timeline, phase.begin_ns),
        format_stretch(timeline, phase.end_ns),
        task_list(what) + (what.has_teams ? " *" : "")
    );
  }
  text += fmt::format(
      "wait and work are medians over {} block{} of the median over {} launch{}; most is the block "
      "that works longest\n",
      timeline.blocks.size(),
      timeline.blocks.size() == 1 ? "" : "s",
      timeline.num_launches,
      timeline.num_launches == 1 ? "" : "es"
  );
  if (has_teams) {
    text +=
        "* tasks side by side: the times are those of the first team, waits include the others\n";
  }
  text += fmt::format("clocks: {}\n", timeline.alignment);
  if (timeline.has_time) {
    text += fmt::format(
        "the stamps cost a little: {} a step with them", format_time(timeline.step_time_ns)
    );
    text += plain_ns > 0.0 ? fmt::format(", {} without\n", format_time(plain_ns)) : "\n";
  }
  text += fmt::format(
      "total {}: {:.0f} % work, {:.0f} % wait, {:.0f} % launch\n",
      format_stretch(timeline, summary.total_ns),
      100.0 * summary.work_share,
      100.0 * summary.wait_share,
      100.0 * summary.launch_share
  );
  return text;
}

Json timeline_document(const Timeline& timeline) {
  const TimelineSummary summary = summarize(timeline);
  Json phases = Json::array();
  for (std::size_t p = 0; p < summary.phases.size(); ++p) {
    const PhaseSummary& phase = summary.phases[p];
    const TimelinePhase& what = timeline.phases[p];
    phases.push_back(
        {{"phase", p + 1},
         {"tasks", what.tasks},
         {"edge", what.edge},
         {"first_team_only", what.has_teams},
         {"wait_ns", phase.wait_ns},
         {"work_ns", phase.work_ns},
         {"max_work_ns", phase.max_work_ns},
         {"begin_ns", phase.begin_ns},
         {"end_ns", phase.end_ns}}
    );
  }
  return {
      {"total_ns", summary.total_ns},
      {"work_share", summary.work_share},
      {"wait_share", summary.wait_share},
      {"launch_share", summary.launch_share},
      {"blocks", timeline.blocks.size()},
      {"launches", timeline.num_launches},
      {"clocks", timeline.alignment},
      {"has_time", timeline.has_time},
      {"step_time_ns", timeline.step_time_ns},
      {"phases", std::move(phases)}};
}

}  // namespace whet
