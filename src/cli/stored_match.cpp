#include "cli/stored_match.hpp"

#include "base/error.hpp"
#include "cli/record_identity.hpp"
#include "report/stored_sessions.hpp"

namespace whet {

Match find_match(const std::filesystem::path& database, const LookupKey& key) {
  std::error_code error;
  if (!std::filesystem::exists(database, error)) {
    Match nothing;
    nothing.reason = fmt::format("{} does not exist: nothing was tuned yet", database.string());
    return nothing;
  }
  Match match = look_up(database, key, generating_versions(key.target));
  if (match.grade == Match::StoreUnavailable) {
    throw EnvironmentError(match.reason);
  }
  return match;
}

std::optional<SessionReport> find_session(
    const std::filesystem::path& database, const LookupKey& key, const Match& match
) {
  if (!match.decision) {
    return std::nullopt;
  }
  const RecordStore store = RecordStore::open(database, RecordStore::Mode::ReadOnly);
  for (const SessionRecord& session : store.sessions(
           {.workload_key = key.workload_key,
 .device_class = key.device_class,
 .target = key.target}
       )) {
    if (session.uid == match.session_uid) {
      return stored_session(store, session);
    }
  }
  return std::nullopt;
}

}  // namespace whet
