#include "cli/db_check.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "store/record_store.hpp"

namespace whet {
namespace {

void print_json(const std::string& database, const IntegrityReport& report) {
  const Json document{
      {"schema", "whet.check/1"},
      {"database", database},
      {"sessions", report.num_sessions},
      {"evaluations", report.num_evaluations},
      {"sample_blocks", report.num_sample_blocks},
      {"decisions", report.num_decisions},
      {"artifacts", report.num_artifacts},
      {"problems", report.problems}};
  fmt::print("{}\n", document.dump(2));
}

void print_text(const std::string& database, const IntegrityReport& report) {
  fmt::print(
      "{}: {} sessions, {} evaluations, {} sample blocks, {} decisions, {} artifacts\n",
      database,
      report.num_sessions,
      report.num_evaluations,
      report.num_sample_blocks,
      report.num_decisions,
      report.num_artifacts
  );
  for (const std::string& problem : report.problems) {
    fmt::print("problem: {}\n", problem);
  }
  fmt::print(
      "{}\n", report.problems.empty() ? "all is well" : "restore it from a copy, or tune anew"
  );
}

}  // namespace

int run_db_check(const DbCheckOptions& options, const Environment& environment) {
  const std::filesystem::path database = database_path(environment, options.database);
  const IntegrityReport report = RecordStore::open(database, RecordStore::Mode::ReadOnly).check();
  if (options.json) {
    print_json(database.string(), report);
  } else {
    print_text(database.string(), report);
  }
  return report.problems.empty() ? 0 : 1;
}

}  // namespace whet
