#include "store/record_store.hpp"

#include <chrono>
#include <cmath>
#include <random>
#include <utility>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "store/crc32.hpp"
#include "store/rows.hpp"
#include "store/sample_blob.hpp"
#include "store/schema.hpp"
#include "store/sqlite.hpp"
#include "store/stored_json.hpp"

namespace whet {
namespace {

using sqlite::Connection;
using sqlite::Statement;
using sqlite::Transaction;

std::int64_t now_ms() {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  return duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string random_uid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// Id of the row of `table` whose `columns` ("a, b") have the values; made if it is missing.
template <typename... Values>
std::int64_t find_or_insert(
    const Connection& connection,
    const std::string& table,
    const std::string& columns,
    const std::string& marks,
    const Values&... values
) {
  Statement find(
      connection,
      fmt::format("SELECT id FROM {} WHERE ({}) = ({})", table, columns, marks),
      values...
  );
  if (find.step()) {
    return find.integer(0);
  }
  Statement(
      connection, fmt::format("INSERT INTO {}({}) VALUES({})", table, columns, marks), values...
  )
      .run();
  return connection.last_row();
}

std::int64_t configuration_row(const Connection& connection, const Configuration& configuration) {
  const std::string knobs = canonical_text(configuration.values);
  return find_or_insert(
      connection, "configuration", "sha256, knobs", "?, ?", sha256_hex(knobs), knobs
  );
}

void insert_blocks(
    const Connection& connection, EvaluationId evaluation, const std::vector<SampleBlock>& blocks
) {
  for (const SampleBlock& block : blocks) {
    for (const Sample& sample : block.samples) {
      WHET_CHECK(std::isfinite(sample.time_ns), "a time of {} ns", sample.time_ns);
    }
    const std::string samples = encode_samples(block.samples);
    Statement(
        connection,
        "INSERT INTO sample_block(evaluation, purpose, process, block, num_steps, samples, crc32) "
        "VALUES(?, ?, ?, ?, ?, ?, ?)",
        evaluation,
        block.purpose,
        block.process,
        block.block,
        block.num_steps,
        sqlite::Blob{samples},
        std::int64_t{crc32(samples)}
    )
        .run();
  }
}

}  // namespace

RecordStore::RecordStore(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
RecordStore::~RecordStore() = default;
RecordStore::RecordStore(RecordStore&&) noexcept = default;
RecordStore& RecordStore::operator=(RecordStore&&) noexcept = default;

RecordStore RecordStore::open(const std::filesystem::path& path, Mode mode) {
  return RecordStore(mode == Mode::ReadOnly ? open_for_reading(path) : open_for_writing(path));
}

SessionId RecordStore::begin_session(const SessionInfo& info) {
  Transaction transaction(*connection_);
  const std::int64_t program = find_or_insert(
      *connection_,
      "program",
      "key, name, text",
      "?, ?, ?",
      info.workload_key,
      info.workload_name,
      info.workload_text
  );
  const std::int64_t device = find_or_insert(
      *connection_, "device", "class, name", "?, ?", info.device_class, info.device_name
  );
  const std::int64_t environment =
      find_or_insert(*connection_, "environment", "versions", "?", canonical_text(info.versions));
  Statement(
      *connection_,
      "INSERT INTO session(uid, program, device, environment, target, tolerance_set, options, "
      "seed, started_ms) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
      random_uid(),
      program,
      device,
      environment,
      target_name(info.target),
      info.tolerance_set,
      stored_text(info.options),
      static_cast<std::int64_t>(info.seed),
      now_ms()
  )
      .run();
  const SessionId session = connection_->last_row();
  transaction.commit();
  return session;
}

EvaluationId RecordStore::add_evaluation(SessionId session, const Evaluation& evaluation) {
  const std::string result = evaluation_text(evaluation);
  Transaction transaction(*connection_);
  Statement(
      *connection_,
      "INSERT INTO evaluation(session, configuration, status, result, crc32, recorded_ms) "
      "VALUES(?, ?, ?, ?, ?, ?)",
      session,
      configuration_row(*connection_, evaluation.configuration),
      status_name(evaluation.status),
      result,
      std::int64_t{crc32(result)},
      now_ms()
  )
      .run();
  const EvaluationId id = connection_->last_row();
  insert_blocks(*connection_, id, evaluation.blocks);
  transaction.commit();
  return id;
}

void RecordStore::add_samples(EvaluationId evaluation, const std::vector<SampleBlock>& blocks) {
  Transaction transaction(*connection_);
  insert_blocks(*connection_, evaluation, blocks);
  transaction.commit();
}

void RecordStore::add_decision(SessionId session, const Decision& decision) {
  const std::string body = stored_text(to_json(decision));
  Transaction transaction(*connection_);
  Statement(
      *connection_,
      "INSERT INTO decision(session, verdict, time_ns, body, crc32, decided_ms) "
      "VALUES(?, ?, ?, ?, ?, ?)",
      session,
      verdict_name(decision.verdict),
      decision.time_ns ? std::optional(decision.time_ns->median) : std::nullopt,
      body,
      std::int64_t{crc32(body)},
      now_ms()
  )
      .run();
  transaction.commit();
}

void RecordStore::put_artifact(const StoredArtifact& artifact) {
  const std::string plan = stored_text(to_json(artifact.plan));
  Transaction transaction(*connection_);
  Statement(
      *connection_,
      "INSERT INTO artifact(key, plan, code, sha256, recorded_ms) VALUES(?, ?, ?, ?, ?) "
      "ON CONFLICT(key) DO UPDATE SET plan = excluded.plan, code = excluded.code, "
      "sha256 = excluded.sha256, recorded_ms = excluded.recorded_ms",
      artifact.key,
      plan,
      sqlite::Blob{artifact.code},
      artifact_digest(plan, artifact.code),
      now_ms()
  )
      .run();
  transaction.commit();
}

}  // namespace whet
