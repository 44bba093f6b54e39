#include "base/error.hpp"
#include "store/match.hpp"
#include "store/record_store.hpp"
#include "store/rows.hpp"
#include "store/sqlite.hpp"
#include "store/stored_json.hpp"

namespace whet {
namespace {

std::string version_text(const Json& versions, const std::string& name) {
  const auto found = versions.find(name);
  if (found == versions.end()) {
    return "unknown";
  }
  return found->is_string() ? found->get<std::string>() : stored_text(*found);
}

/// "driver 580.1 -> 581.2, …" for the names that `now` has; empty when none changed.
std::string changed_versions(const Json& stored, const Json& now) {
  std::string text;
  for (const auto& [name, version] : now.items()) {
    const auto found = stored.find(name);
    if (found == stored.end() || *found != version) {
      text += fmt::format(
          "{}{} {} -> {}",
          text.empty() ? "" : ", ",
          name,
          version_text(stored, name),
          version_text(now, name)
      );
    }
  }
  return text;
}

}  // namespace

std::string_view grade_name(Match::Grade grade) {
  switch (grade) {
    case Match::Exact:
      return "Exact";
    case Match::OtherVersion:
      return "OtherVersion";
    case Match::NearShape:
      return "NearShape";
    case Match::Default:
      return "Default";
    default:
      return "StoreUnavailable";
  }
}

Match RecordStore::best(const LookupKey& key, const Json& versions) const {
  sqlite::Statement row(
      *connection_,
      "SELECT d.id, d.body, d.crc32, s.uid, e.versions "
      "FROM program AS p JOIN session AS s ON s.program = p.id "
      "JOIN device AS v ON v.id = s.device JOIN environment AS e ON e.id = s.environment "
      "JOIN decision AS d ON d.session = s.id "
      "WHERE p.key = ? AND v.class = ? AND s.target = ? AND s.tolerance_set = ? "
      "ORDER BY d.decided_ms DESC, d.id DESC",
      key.workload_key,
      key.device_class,
      target_name(key.target),
      key.tolerance_set
  );
  Match newest{
      .grade = Match::Default,
      .reason = fmt::format(
          "no decision for workload {} on {} (target {}, tolerances {})",
          key.workload_key.substr(0, 12),
          key.device_class,
          target_name(key.target),
          key.tolerance_set
      )};
  while (row.step()) {
    const std::string what =
        fmt::format("record store {}: versions of session {}", connection_->name(), row.bytes(3));
    Json stored = decode_stored(row.bytes(4), what, [](Json json) { return json; });
    std::string changed = changed_versions(stored, versions);
    if (!changed.empty() && newest.decision) {
      continue;
    }
    Match match{
        .grade = changed.empty() ? Match::Exact : Match::OtherVersion,
        .reason = std::move(changed),
        .decision = read_decision(row, 0, *connection_),
        .session_uid = row.bytes(3),
        .versions = std::move(stored)};
    if (match.grade == Match::Exact) {
      return match;
    }
    newest = std::move(match);
  }
  return newest;
}

Match look_up(const std::filesystem::path& path, const LookupKey& key, const Json& versions) {
  // The one place where an error becomes an answer: production code must run without a store.
  try {
    return RecordStore::open(path, RecordStore::Mode::ReadOnly).best(key, versions);
  } catch (const EnvironmentError& error) {
    return {.grade = Match::StoreUnavailable, .reason = error.what()};
  }
}

}  // namespace whet
