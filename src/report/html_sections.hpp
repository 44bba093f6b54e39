#pragma once

#include <string>
#include <vector>

#include "report/session_report.hpp"

namespace whet {

// Parts of the page of html.hpp, as markup.

/// The verdict and times of each workload, with links to "#session-1" and on.
std::string overview_section(const std::vector<SessionReport>& reports);
/// All of one session; `id` is the page's only one.
std::string session_section(const std::string& id, const SessionReport& report);
/// What each knob brought.
std::string knobs_section(const SessionReport& report);
/// How the candidates ended that are not valid, with an example of each.
std::string failures_section(const SessionReport& report);
/// What to open for all candidates and all raw samples.
std::string evidence_section(const SessionReport& report);

}  // namespace whet
