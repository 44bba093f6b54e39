#include "report/stored_sessions.hpp"

#include <map>
#include <tuple>

namespace whet {
namespace {

std::map<std::string, std::string> text_fields(const Json& versions) {
  std::map<std::string, std::string> fields;
  for (const auto& [name, value] : versions.items()) {
    fields[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return fields;
}

}  // namespace

std::optional<SessionReport> stored_session(
    const RecordStore& store, const SessionRecord& session
) {
  const std::vector<Decision> decisions = store.decisions(session.id);
  if (decisions.empty()) {
    return std::nullopt;
  }
  SessionReport report{
      .workload = session.info.workload_name,
      .key = session.info.workload_key,
      .target = target_name(session.info.target),
      .device = session.info.device_name,
      .budget = session.info.options.value("budget", ""),
      .environment = text_fields(session.info.versions),
      .decision = decisions.back(),
      .evaluations = {},
      .limits_ns = {}};
  for (EvaluationRecord& record : store.evaluations(session.id)) {
    report.evaluations.push_back(std::move(record.evaluation));
  }
  return report;
}

std::vector<SessionRecord> newest_sessions(const RecordStore& store, const SessionFilter& filter) {
  std::map<std::tuple<std::string, std::string, std::string, Target>, SessionRecord> newest;
  for (const SessionRecord& session : store.sessions(filter)) {  // oldest first
    const SessionInfo& info = session.info;
    if (session.decided) {
      newest[{info.workload_name, info.workload_key, info.device_class, info.target}] = session;
    }
  }
  std::vector<SessionRecord> sessions;
  for (auto& [name, session] : newest) {
    sessions.push_back(std::move(session));
  }
  return sessions;
}

std::vector<SessionReport> stored_sessions(const RecordStore& store, const SessionFilter& filter) {
  std::vector<SessionReport> reports;
  for (const SessionRecord& session : newest_sessions(store, filter)) {
    if (std::optional<SessionReport> report = stored_session(store, session)) {
      reports.push_back(std::move(*report));
    }
  }
  return reports;
}

}  // namespace whet
