#pragma once

#include <filesystem>
#include <optional>

#include "report/session_report.hpp"
#include "store/match.hpp"

namespace whet {

/// As look_up, but a database that was never made holds nothing. Throws EnvironmentError for one
/// that cannot be read.
Match find_match(const std::filesystem::path& database, const LookupKey& key);

/// The session that a match comes from, as a report; nothing when nothing matched.
std::optional<SessionReport> find_session(
    const std::filesystem::path& database, const LookupKey& key, const Match& match
);

}  // namespace whet
