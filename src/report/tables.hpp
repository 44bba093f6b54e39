#pragma once

#include <string>
#include <vector>

#include "report/session_report.hpp"

namespace whet {

/// A few lines for a terminal: verdict, winner, its time with its interval, what it was measured
/// beside, how the candidates ended.
std::string result_table(const SessionReport& report);
/// One line a workload under a heading, for a terminal.
std::string suite_table(const std::vector<SessionReport>& reports);
/// A page: a table over all workloads, then a section for each with its candidates.
std::string to_markdown(const std::string& title, const std::vector<SessionReport>& reports);
/// A row a candidate: workload, key, target, device, status, median and number of samples, the
/// limit of its launches and the ratio to it, configuration, detail.
std::string to_csv(const std::vector<SessionReport>& reports);

}  // namespace whet
