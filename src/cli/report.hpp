#pragma once

#include <string>
#include <vector>

#include "cli/environment.hpp"

namespace whet {

/// `whet report [W]`: what the database holds, the newest session of each workload and device; or
/// what a report file holds, with its samples.
struct ReportOptions {
  std::string workload;  ///< empty: all
  std::vector<std::string> dims;
  std::string format = "markdown";
  bool knobs = false;    ///< what each knob brought, instead of what won
  bool ranking = false;  ///< instead: how well the model orders the candidates of every session
  std::string from;      ///< a whet.report/1 file instead of the database
  std::string database;
};

/// Prints the report. Returns 0, or 1 when there is nothing to report. Throws UserError for an
/// unknown format.
int run_report(const ReportOptions& options, const Environment& environment);

}  // namespace whet
