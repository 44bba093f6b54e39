#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/launch_plan.hpp"
#include "base/json.hpp"
#include "evaluation/evaluation.hpp"
#include "schedule/device_limits.hpp"
#include "store/decision.hpp"
#include "store/match.hpp"

namespace whet {

namespace sqlite {
class Connection;
}

using SessionId = std::int64_t;
using EvaluationId = std::int64_t;

/// Under which conditions a session tunes.
struct SessionInfo {
  std::string workload_key;
  std::string workload_name;
  std::string workload_text;  ///< the workload file, for repeating the session
  std::string device_class;
  std::string device_name;  ///< shown only
  Target target = Target::Cpu;
  std::string tolerance_set;
  Json options = Json::object();
  /// Of generator, compiler, driver, LibTorch …: name to text. Read back sorted by name.
  Json versions = Json::object();
  std::uint64_t seed = 0;

  bool operator==(const SessionInfo&) const = default;
};

struct SessionRecord {
  SessionId id = 0;
  std::string uid;  ///< 32 hexadecimal digits, the same in every store that holds the session
  SessionInfo info;
  std::int64_t started_ms = 0;  ///< since 1970, UTC
  std::int64_t num_evaluations = 0;
  bool decided = false;
};

struct EvaluationRecord {
  EvaluationId id = 0;
  Evaluation evaluation;
};

/// Which sessions to list; empty strings and nothing mean all.
struct SessionFilter {
  std::string workload_key;
  std::string device_class;
  std::optional<Target> target;
};

/// Compiled code with how to launch it. The key is the caller's: the SHA-256 of source, options and
/// compiler.
struct StoredArtifact {
  std::string key;
  LaunchPlan plan;
  std::string code;

  bool operator==(const StoredArtifact&) const = default;
};

/// What `whet db check` found.
struct IntegrityReport {
  std::int64_t num_sessions = 0;
  std::int64_t num_evaluations = 0;
  std::int64_t num_sample_blocks = 0;
  std::int64_t num_decisions = 0;
  std::int64_t num_artifacts = 0;
  std::vector<std::string> problems;  ///< one sentence each; none: all is well

  bool operator==(const IntegrityReport&) const = default;
};

/// Evidence of tuning sessions in an SQLite file (docs/formats/records.md). For one thread, and
/// never across a fork; any number of processes may use the file at once. What a method that writes
/// has returned from survives a crash and a power loss. Every method throws EnvironmentError when
/// SQLite refuses, or a row that it needs is damaged.
class RecordStore {
 public:
  enum class Mode { ReadOnly, ReadWrite };
  /// ReadWrite makes a missing file and its folders (mode 0700). Throws EnvironmentError when the
  /// file is missing (ReadOnly), another program's, a newer version's, or cannot be opened.
  static RecordStore open(const std::filesystem::path& path, Mode mode);

  ~RecordStore();
  RecordStore(RecordStore&&) noexcept;
  RecordStore& operator=(RecordStore&&) noexcept;

  SessionId begin_session(const SessionInfo& info);
  /// With its sample blocks, in one transaction.
  EvaluationId add_evaluation(SessionId session, const Evaluation& evaluation);
  /// Further samples of an evaluation, in one transaction.
  void add_samples(EvaluationId evaluation, const std::vector<SampleBlock>& blocks);
  void add_decision(SessionId session, const Decision& decision);
  /// Replaces an artifact with the same key.
  void put_artifact(const StoredArtifact& artifact);

  /// Oldest first.
  std::vector<SessionRecord> sessions(const SessionFilter& filter = {}) const;
  /// In the order in which they were added, with all their samples.
  std::vector<EvaluationRecord> evaluations(SessionId session) const;
  std::vector<Decision> decisions(SessionId session) const;
  std::map<Status, std::int64_t> status_counts(SessionId session) const;
  /// Nothing if there is none, or it was altered.
  std::optional<StoredArtifact> artifact(const std::string& key) const;

  /// The newest decision for `key` made under `versions`; else the newest one, as OtherVersion;
  /// else Default. Only the names in `versions` are compared, so a program without LibTorch need
  /// not know which one was used.
  Match best(const LookupKey& key, const Json& versions) const;

  /// Reads everything. Does not throw for damage: that is what it reports.
  IntegrityReport check() const;

 private:
  explicit RecordStore(std::unique_ptr<sqlite::Connection> connection);

  std::unique_ptr<sqlite::Connection> connection_;
};

/// RecordStore::best on the store at `path`; one that cannot be opened or read is
/// StoreUnavailable, never mistaken for a miss.
Match look_up(const std::filesystem::path& path, const LookupKey& key, const Json& versions);

}  // namespace whet
