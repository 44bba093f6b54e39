#include "cli/report.hpp"

#include <cstdio>

#include "base/error.hpp"
#include "cli/workload_choice.hpp"
#include "report/stored_sessions.hpp"
#include "report/tables.hpp"

namespace whet {
namespace {

constexpr const char* kTitle = "whet: tuned workloads";

std::string render(const std::string& format, const std::vector<SessionReport>& reports) {
  if (format == "markdown") {
    return to_markdown(kTitle, reports);
  }
  if (format == "csv") {
    return to_csv(reports);
  }
  if (format == "json") {
    return report_document(kTitle, reports, Samples::Kept).dump(2) + "\n";
  }
  throw UserError(fmt::format("--format: expected markdown, csv or json, found '{}'", format));
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
  fmt::print("{}", render(options.format, reports));
  return reports.empty() ? 1 : 0;
}

}  // namespace whet
