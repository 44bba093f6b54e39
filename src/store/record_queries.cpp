#include <utility>

#include "base/error.hpp"
#include "store/record_store.hpp"
#include "store/rows.hpp"
#include "store/sample_blob.hpp"
#include "store/sqlite.hpp"
#include "store/stored_json.hpp"

namespace whet {
namespace {

using sqlite::Connection;
using sqlite::Statement;

Target read_target(const std::string& name, const std::string& what) {
  try {
    return parse_target(name);
  } catch (const UserError& error) {
    throw_damaged(what, error.what());
  }
}

SessionRecord read_session(const Statement& row, const Connection& connection) {
  const auto what = [&](const char* part) {
    return fmt::format(
        "record store {}: {} of session {}", connection.name(), part, row.integer(0)
    );
  };
  const auto as_is = [](Json json) { return json; };
  return {
      .id = row.integer(0),
      .uid = row.bytes(1),
      .info =
          {.workload_key = row.bytes(2),
           .workload_name = row.bytes(3),
           .workload_text = row.bytes(4),
           .device_class = row.bytes(5),
           .device_name = row.bytes(6),
           .target = read_target(row.bytes(7), what("target")),
           .tolerance_set = row.bytes(8),
           .options = decode_stored(row.bytes(9), what("options"), as_is),
           .versions = decode_stored(row.bytes(10), what("versions"), as_is),
           .seed = static_cast<std::uint64_t>(row.integer(11))},
      .started_ms = row.integer(12),
      .num_evaluations = row.integer(13),
      .decided = row.integer(14) != 0};
}

/// From the columns id, knobs, sha256, result, crc32.
EvaluationRecord read_evaluation(const Statement& row, const Connection& connection) {
  const std::string what =
      fmt::format("record store {}: evaluation {}", connection.name(), row.integer(0));
  const Configuration configuration =
      configuration_from_text(row.bytes(1), row.bytes(2), "configuration of " + what);
  const std::string result = row.bytes(3);
  return {
      .id = row.integer(0),
      .evaluation =
          evaluation_from_text(checked(result, row.integer(4), what), configuration, what)};
}

/// From the columns `first` (id), purpose, process, block, num_steps, samples, crc32.
SampleBlock read_block(const Statement& row, int first, const Connection& connection) {
  const std::string what =
      fmt::format("record store {}: sample block {}", connection.name(), row.integer(first));
  const std::string blob = row.bytes(first + 5);
  auto samples = decode_samples(checked(blob, row.integer(first + 6), what));
  if (!samples) {
    throw_damaged(what, "it ends within a sample");
  }
  return {
      .process = row.integer(first + 2),
      .block = row.integer(first + 3),
      .num_steps = row.integer(first + 4),
      .purpose = row.bytes(first + 1),
      .samples = *std::move(samples)};
}

}  // namespace

std::vector<SessionRecord> RecordStore::sessions(const SessionFilter& filter) const {
  Statement row(
      *connection_,
      "SELECT s.id, s.uid, p.key, p.name, p.text, d.class, d.name, s.target, s.tolerance_set, "
      "s.options, e.versions, s.seed, s.started_ms, "
      "(SELECT count(*) FROM evaluation WHERE session = s.id), "
      "EXISTS(SELECT 1 FROM decision WHERE session = s.id) "
      "FROM session AS s JOIN program AS p ON p.id = s.program JOIN device AS d ON d.id = s.device "
      "JOIN environment AS e ON e.id = s.environment "
      "WHERE (?1 = '' OR p.key = ?1) AND (?2 = '' OR d.class = ?2) AND (?3 = '' OR s.target = ?3) "
      "ORDER BY s.started_ms, s.id",
      filter.workload_key,
      filter.device_class,
      filter.target ? target_name(*filter.target) : std::string()
  );
  std::vector<SessionRecord> records;
  while (row.step()) {
    records.push_back(read_session(row, *connection_));
  }
  return records;
}

std::vector<EvaluationRecord> RecordStore::evaluations(SessionId session) const {
  // One statement, and so one snapshot.
  Statement row(
      *connection_,
      "SELECT e.id, c.knobs, c.sha256, e.result, e.crc32, "
      "b.id, b.purpose, b.process, b.block, b.num_steps, b.samples, b.crc32 "
      "FROM evaluation AS e JOIN configuration AS c ON c.id = e.configuration "
      "LEFT JOIN sample_block AS b ON b.evaluation = e.id "
      "WHERE e.session = ? ORDER BY e.id, b.id",
      session
  );
  std::vector<EvaluationRecord> records;
  while (row.step()) {
    if (records.empty() || records.back().id != row.integer(0)) {
      records.push_back(read_evaluation(row, *connection_));
    }
    if (!row.is_null(5)) {
      records.back().evaluation.blocks.push_back(read_block(row, 5, *connection_));
    }
  }
  return records;
}

std::vector<Decision> RecordStore::decisions(SessionId session) const {
  Statement row(
      *connection_, "SELECT id, body, crc32 FROM decision WHERE session = ? ORDER BY id", session
  );
  std::vector<Decision> decisions;
  while (row.step()) {
    decisions.push_back(read_decision(row, 0, *connection_));
  }
  return decisions;
}

std::map<Status, std::int64_t> RecordStore::status_counts(SessionId session) const {
  Statement row(
      *connection_,
      "SELECT status, count(*) FROM evaluation WHERE session = ? GROUP BY status",
      session
  );
  std::map<Status, std::int64_t> counts;
  while (row.step()) {
    const auto status = parse_status(row.bytes(0));
    if (!status) {
      throw_damaged(
          fmt::format("record store {}: session {}", connection_->name(), session),
          fmt::format("an evaluation has the unknown status \"{}\"", row.bytes(0))
      );
    }
    counts[*status] = row.integer(1);
  }
  return counts;
}

std::optional<StoredArtifact> RecordStore::artifact(const std::string& key) const {
  Statement row(*connection_, "SELECT plan, code, sha256 FROM artifact WHERE key = ?", key);
  if (!row.step()) {
    return std::nullopt;
  }
  const std::string plan = row.bytes(0);
  std::string code = row.bytes(1);
  if (artifact_digest(plan, code) != row.bytes(2)) {
    return std::nullopt;
  }
  const std::string what =
      fmt::format("record store {}: plan of artifact {}", connection_->name(), key);
  return StoredArtifact{
      .key = key,
      .plan = decode_stored(plan, what, launch_plan_from_json),
      .code = std::move(code)};
}

}  // namespace whet
