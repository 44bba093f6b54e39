#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/session_report.hpp"
#include "store/record_store.hpp"

namespace whet {

/// A session of the store with all its evidence; nothing when it holds no decision.
std::optional<SessionReport> stored_session(const RecordStore& store, const SessionRecord& session);

/// The newest decided session for each workload, device and target that `filter` admits, in the
/// order of the workloads' names.
std::vector<SessionRecord> newest_sessions(const RecordStore& store, const SessionFilter& filter);

/// Those sessions with all their evidence.
std::vector<SessionReport> stored_sessions(const RecordStore& store, const SessionFilter& filter);

}  // namespace whet
