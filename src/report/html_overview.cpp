// The table over all workloads of a page.

#include <fmt/format.h>

#include <algorithm>

#include "report/format.hpp"
#include "report/html_sections.hpp"
#include "report/html_table.hpp"
#include "report/markup.hpp"

namespace whet {
namespace {

/// What any session was measured beside, in the order in which it appears.
std::vector<std::string> baseline_names(const std::vector<SessionReport>& reports) {
  std::vector<std::string> names;
  for (const SessionReport& report : reports) {
    for (const MeasuredBaseline& baseline : report.decision.baselines) {
      if (std::ranges::find(names, baseline.name) == names.end()) {
        names.push_back(baseline.name);
      }
    }
  }
  return names;
}

/// A median with its interval below.
std::string time_cell(const TimeSummary& time_ns) {
  return fmt::format(
      "<strong>{}</strong> <small>[{}, {}]</small>",
      format_time(time_ns.median),
      format_time(time_ns.low),
      format_time(time_ns.high)
  );
}

std::string baseline_cell(const Decision& decision, const std::string& name) {
  const auto found = std::ranges::find(decision.baselines, name, &MeasuredBaseline::name);
  if (found == decision.baselines.end()) {
    return "–";
  }
  std::string cell = time_cell(found->time_ns);
  if (decision.time_ns) {
    cell += fmt::format(
        " <span class=\"ratio\">{}</span>", format_speedup(found->time_ns, *decision.time_ns)
    );
  }
  return cell;
}

/// Whether all were measured on one device, which then need not stand in each row.
bool share_device(const std::vector<SessionReport>& reports) {
  return std::ranges::all_of(reports, [&](const SessionReport& report) {
    return report.device == reports.front().device && report.target == reports.front().target;
  });
}

std::string verdict_cell(Verdict verdict) {
  return fmt::format("<span class=\"verdict {0}\">{0}</span>", verdict_name(verdict));
}

}  // namespace

std::string overview_section(const std::vector<SessionReport>& reports) {
  const std::vector<std::string> names = baseline_names(reports);
  const bool has_device = !share_device(reports);
  std::vector<HtmlColumn> columns{{"workload"}, {"verdict"}, {"time a step [interval]", true}};
  for (const std::string& name : names) {
    columns.push_back({name, true});
  }
  columns.push_back({"limit", true});
  columns.push_back({"measured / limit", true});
  if (has_device) {
    columns.push_back({"device"});
  }
  HtmlTable table("All workloads, with what each was measured beside", columns);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const SessionReport& report = reports[i];
    const std::optional<TimeSummary>& time_ns = report.decision.time_ns;
    const std::optional<double> limit = winner_limit_ns(report);
    std::vector<std::string> cells{
        fmt::format("<a href=\"#session-{}\">{}</a>", i + 1, escape_markup(report.workload)),
        verdict_cell(report.decision.verdict),
        time_ns ? time_cell(*time_ns) : "–"};
    for (const std::string& name : names) {
      cells.push_back(baseline_cell(report.decision, name));
    }
    cells.push_back(limit ? format_time(*limit) : "–");
    cells.push_back(limit && time_ns ? fmt::format("{:.1f}", time_ns->median / *limit) : "–");
    if (has_device) {
      cells.push_back(escape_markup(fmt::format("{}: {}", report.target, report.device)));
    }
    table.row(cells);
  }
  const std::string device = has_device ? ""
                                        : fmt::format(
                                              "<p>{}: {}</p>\n",
                                              escape_markup(reports.front().target),
                                              escape_markup(reports.front().device)
                                          );
  return device + table.markup() +
         "<p class=\"note\">Times are a step, as median and interval; “2.00 x” below a time says "
         "that the winner is twice as fast. <a href=\"#method\">Method</a></p>\n";
}

}  // namespace whet
