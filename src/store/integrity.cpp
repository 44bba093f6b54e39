#include <functional>

#include "base/error.hpp"
#include "store/record_store.hpp"
#include "store/rows.hpp"
#include "store/sample_blob.hpp"
#include "store/schema.hpp"
#include "store/sqlite.hpp"

namespace whet {
namespace {

using sqlite::Connection;
using sqlite::Statement;

class Checker {
 public:
  explicit Checker(const Connection& connection) : connection_(connection) {}

  /// Runs one part of the check. What SQLite cannot read is a finding like others.
  void part(const std::function<void()>& check) {
    try {
      check();
    } catch (const EnvironmentError& error) {
      problems_.push_back(error.what());
    }
  }

  /// Rows of `sql`, each on its own; their number.
  std::int64_t rows(const std::string& sql, const std::function<void(const Statement&)>& check) {
    std::int64_t count = 0;
    part([&] {
      Statement row(connection_, sql);
      while (row.step()) {
        ++count;
        part([&] { check(row); });
      }
    });
    return count;
  }

  void add(std::string problem) { problems_.push_back(std::move(problem)); }
  std::vector<std::string> take() { return std::move(problems_); }

 private:
  const Connection& connection_;
  std::vector<std::string> problems_;
};

void check_structure(Checker& checker, const Connection& connection) {
  checker.rows("PRAGMA integrity_check", [&](const Statement& row) {
    if (row.bytes(0) != "ok") {
      checker.add("integrity_check: " + row.bytes(0));
    }
  });
  checker.rows("PRAGMA foreign_key_check", [&](const Statement& row) {
    checker.add(fmt::format(
        "foreign_key_check: row {} of {} refers to a missing row of {}",
        row.integer(1),
        row.bytes(0),
        row.bytes(2)
    ));
  });
  checker.part([&] {
    for (std::string& difference : schema_differences(connection)) {
      checker.add(std::move(difference));
    }
  });
}

}  // namespace

IntegrityReport RecordStore::check() const {
  Checker checker(*connection_);
  check_structure(checker, *connection_);
  const auto what = [](const char* kind, const Statement& row) {
    return fmt::format("{} {}", kind, row.bytes(0));
  };
  IntegrityReport report;
  report.num_sessions = checker.rows("SELECT id FROM session", [](const Statement&) {});
  checker.rows("SELECT id, knobs, sha256 FROM configuration", [&](const Statement& row) {
    configuration_from_text(row.bytes(1), row.bytes(2), what("configuration", row));
  });
  report.num_evaluations =
      checker.rows("SELECT id, result, crc32, status FROM evaluation", [&](const Statement& row) {
        const std::string name = what("evaluation", row);
        const std::string result = row.bytes(1);
        const Evaluation evaluation =
            evaluation_from_text(checked(result, row.integer(2), name), {}, name);
        if (status_name(evaluation.status) != row.bytes(3)) {
          checker.add(fmt::format("{} is damaged: its status is {}", name, row.bytes(3)));
        }
      });
  report.num_sample_blocks =
      checker.rows("SELECT id, samples, crc32 FROM sample_block", [&](const Statement& row) {
        const std::string name = what("sample block", row);
        if (!decode_samples(checked(row.bytes(1), row.integer(2), name))) {
          checker.add(name + " ends within a sample");
        }
      });
  report.num_decisions =
      checker.rows("SELECT id, body, crc32, verdict FROM decision", [&](const Statement& row) {
        if (verdict_name(read_decision(row, 0, *connection_).verdict) != row.bytes(3)) {
          checker.add(
              fmt::format("{} is damaged: its verdict is {}", what("decision", row), row.bytes(3))
          );
        }
      });
  report.num_artifacts =
      checker.rows("SELECT key, plan, code, sha256 FROM artifact", [&](const Statement& row) {
        if (artifact_digest(row.bytes(1), row.bytes(2)) != row.bytes(3)) {
          checker.add(what("artifact", row) + " is damaged: its SHA-256 is not the stored one");
        }
      });
  report.problems = checker.take();
  return report;
}

}  // namespace whet
