#include "report/timeline_trace.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/json.hpp"

namespace whet {
namespace {

using Kind = TimelineSlice::Kind;

Json name_event(const char* what, std::size_t row, const std::string& name) {
  return {{"ph", "M"}, {"pid", 0}, {"tid", row}, {"name", what}, {"args", {{"name", name}}}};
}

Json slice_event(const Timeline& timeline, std::size_t row, const TimelineSlice& slice) {
  const TimelinePhase& phase = timeline.phases[slice.phase_idx];
  constexpr double kNsPerUs = 1e3;  // the format counts in us
  Json event{
      {"ph", "X"},
      {"pid", 0},
      {"tid", row},
      {"ts", slice.begin_ns / kNsPerUs},
      {"dur", (slice.end_ns - slice.begin_ns) / kNsPerUs},
      {"args", {{"phase", slice.phase_idx + 1}}}};
  switch (slice.kind) {
    case Kind::Work:
      event["name"] = phase_label(timeline, slice.phase_idx);
      event["cat"] = "work";
      event["args"]["tasks"] = phase.tasks;
      break;
    case Kind::Wait:
      event["name"] = "wait";
      event["cat"] = "wait";
      event["args"]["edge"] = phase.edge;
      break;
    case Kind::Launch:
      event["name"] = "launch";
      event["cat"] = "launch";
      break;
  }
  return event;
}

}  // namespace

std::string to_trace(const Timeline& timeline, const TimelineTitle& title) {
  Json events = Json::array();
  events.push_back(
      name_event("process_name", 0, fmt::format("{} on {}", title.workload, title.device))
  );
  for (std::size_t row = 0; row < timeline.blocks.size(); ++row) {
    const BlockTimeline& block = timeline.blocks[row];
    events.push_back(
        name_event("thread_name", row, fmt::format("block {} (processor {})", row, block.processor))
    );
    for (const TimelineSlice& slice : slices_of(timeline, block)) {
      events.push_back(slice_event(timeline, row, slice));
    }
  }
  const Json document{
      {"displayTimeUnit", "ns"},
      {"otherData",
       {{"schema", "whet.timeline/1"},
        {"workload", title.workload},
        {"device", title.device},
        {"configuration", title.configuration},
        {"clocks", timeline.alignment}}},
      {"traceEvents", std::move(events)}};
  return document.dump() + "\n";
}

}  // namespace whet
