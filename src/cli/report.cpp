#include "cli/report.hpp"

#include <cstdio>

#include "base/error.hpp"
#include "cli/workload_choice.hpp"
#include "report/knob_tables.hpp"
#include "report/stored_sessions.hpp"
#include "report/tables.hpp"

namespace whet {
namespace {

constexpr const char* kTitle = "whet: tuned workloads";

/// Throws UserError.
[[noreturn]] void refuse_format(const std::string& format) {
  throw UserError(fmt::format("--format: expected text, markdown, csv or json, found '{}'", format)
  );
}

std::string render_knobs(const std::string& format, const std::vector<SessionReport>& sessions) {
  std::vector<KnobReport> reports;
  for (const SessionReport& session : sessions) {
    reports.push_back(knob_report(session));
  }
  if (format == "text") {
    return knobs_text(reports);
  }
  if (format == "markdown") {
    return knobs_markdown(reports);
  }
  if (format == "csv") {
    return knobs_csv(reports);
  }
  if (format == "json") {
    return knobs_document(reports).dump(2) + "\n";
  }
  refuse_format(format);
}

std::string render(const std::string& format, const std::vector<SessionReport>& reports) {
  if (format == "text") {
    return suite_table(reports);
  }
  if (format == "markdown") {
    return to_markdown(kTitle, reports);
  }
  if (format == "csv") {
    return to_csv(reports);
  }
  if (format == "json") {
    return report_document(kTitle, reports, Samples::Kept).dump(2) + "\n";
  }
  refuse_format(format);
}

}  // namespace

int run_report(const ReportOptions& options, const Environment& environment) {
  SessionFilter filter;
  if (!options.workload.empty()) {
    filter.workload_key =
        choose_workload(options.workload, parse_dims(options.dims), environment).key;
  }
  const RecordStore store =
      RecordStore::open(database_path(environment, options.database), RecordStore::Mode::ReadOnly);
  const std::vector<SessionReport> reports = stored_sessions(store, filter);
  fmt::print(
      "{}", options.knobs ? render_knobs(options.format, reports) : render(options.format, reports)
  );
  return reports.empty() ? 1 : 0;
}

}  // namespace whet
