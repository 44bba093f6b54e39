#include "cli/best.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/error.hpp"
#include "cli/record_identity.hpp"
#include "cli/workload_choice.hpp"
#include "report/stored_sessions.hpp"
#include "report/tables.hpp"

namespace whet {
namespace {

/// As look_up, but a database that was never made holds nothing.
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

/// The session that a match comes from, as a report.
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

void print_json(
    const Match& match,
    const std::optional<SessionReport>& session,
    const std::string& workload,
    const LookupKey& key
) {
  Json document = session ? result_document(*session, Samples::Left)
                          : Json{
                                {"schema", "whet.result/1"},
                                {"key", key.workload_key},
                                {"target", target_name(key.target)}};
  document["workload"] = workload;
  document["match"] = grade_name(match.grade);
  document["reason"] = match.reason;
  fmt::print("{}\n", document.dump(2));
}

void print_text(const Match& match, const std::optional<SessionReport>& session) {
  fmt::print(
      "match: {}{}{}\n", grade_name(match.grade), match.reason.empty() ? "" : ": ", match.reason
  );
  if (session) {
    fmt::print("{}", result_table(*session));
  } else {
    fmt::print("`whet tune` makes a record\n");
  }
}

}  // namespace

int run_best(const BestOptions& options, const Environment& environment) {
  const WorkloadChoice workload =
      choose_workload(options.workload, parse_dims(options.dims), environment);
  const DeviceLimits limits = choose_device(options.device, environment).limits;
  const LookupKey key = lookup_key(workload, limits, environment);
  const std::filesystem::path database = database_path(environment, options.database);
  const Match match = find_match(database, key);
  const std::optional<SessionReport> session = find_session(database, key, match);
  if (options.json) {
    print_json(match, session, workload.name, key);
  } else {
    print_text(match, session);
  }
  return match.grade == Match::Exact ? 0 : 1;
}

}  // namespace whet
