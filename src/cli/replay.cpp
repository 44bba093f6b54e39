#include "cli/replay.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json_parse.hpp"
#include "report/read_report.hpp"
#include "report/stored_sessions.hpp"
#include "tuner/policy_comparison.hpp"
#include "tuner/replay.hpp"

namespace whet {
namespace {

int replay_simulated(const ReplayOptions& options) {
  const auto tallies =
      compare_policies(noise_settings(), selection_policies(), options.num_tunings, options.seed);
  if (options.json) {
    fmt::print("{}\n", policies_document(tallies, options.seed).dump(2));
  } else {
    fmt::print("{}", policies_markdown(tallies));
  }
  return 0;
}

/// What is replayed, and where it comes from.
struct Evidence {
  std::string source;
  std::vector<SessionReport> reports;
};

std::vector<Evidence> read_evidence(const ReplayOptions& options, const Environment& environment) {
  std::vector<Evidence> all;
  for (const std::string& file : options.files) {
    all.push_back({file, read_report(parse_json(read_file(file), file), file)});
  }
  if (options.files.empty()) {
    const std::filesystem::path path = database_path(environment, options.database);
    const RecordStore store = RecordStore::open(path, RecordStore::Mode::ReadOnly);
    Evidence& evidence = all.emplace_back(Evidence{path.string(), {}});
    for (const SessionRecord& session : store.sessions()) {
      if (auto report = stored_session(store, session)) {
        evidence.reports.push_back(std::move(*report));
      }
    }
  }
  return all;
}

Json replay_entry(const std::string& source, const SessionReport& report) {
  const Decision replayed = replay(report.evaluations, report.decision);
  return {
      {"source", source},
      {"workload", report.workload},
      {"device", report.device},
      {"target", report.target},
      {"decided", verdict_name(report.decision.verdict)},
      {"replayed", verdict_name(replayed.verdict)},
      {"differences", differences(report.decision, replayed)}};
}

void print_text(const Json& entries, std::size_t num_different) {
  for (const Json& entry : entries) {
    fmt::print(
        "{} on {} ({}): {}{}\n",
        entry["workload"].get<std::string>(),
        entry["device"].get<std::string>(),
        entry["target"].get<std::string>(),
        entry["replayed"].get<std::string>(),
        entry["differences"].empty() ? ", as decided" : ""
    );
    for (const Json& difference : entry["differences"]) {
      fmt::print("  {}\n", difference.get<std::string>());
    }
  }
  if (entries.empty()) {
    fmt::print("no decision to replay\n");
  } else {
    fmt::print("{} of {} as decided\n", entries.size() - num_different, entries.size());
  }
}

}  // namespace

int run_replay(const ReplayOptions& options, const Environment& environment) {
  if (options.simulated) {
    return replay_simulated(options);
  }
  Json entries = Json::array();
  std::size_t num_different = 0;
  for (const Evidence& evidence : read_evidence(options, environment)) {
    for (const SessionReport& report : evidence.reports) {
      entries.push_back(replay_entry(evidence.source, report));
      num_different += entries.back()["differences"].empty() ? 0 : 1;
    }
  }
  const bool is_good = num_different == 0 && !entries.empty();
  if (options.json) {
    fmt::print("{}\n", Json{{"schema", "whet.replay/1"}, {"entries", std::move(entries)}}.dump(2));
  } else {
    print_text(entries, num_different);
  }
  return is_good ? 0 : 1;
}

}  // namespace whet
