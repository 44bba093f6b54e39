#pragma once

#include <vector>

#include "report/session_report.hpp"

namespace whet {

/// What a `whet.report/1` or `whet.result/1` document with its samples says; of limits that of the
/// winner. Throws UserError naming the entry and field that is missing or wrong; `name` stands for
/// the file.
std::vector<SessionReport> read_report(const Json& document, const std::string& name);

}  // namespace whet
