#pragma once

#include <string>
#include <vector>

#include "report/session_report.hpp"

namespace whet {

/// One page that needs nothing else: a table over all workloads, then for each its times, search,
/// knobs, failures, environment and raw samples. No script, and nothing is loaded.
std::string to_html(const std::string& title, const std::vector<SessionReport>& reports);

}  // namespace whet
