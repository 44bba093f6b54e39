#include "cli/best.hpp"

#include <cstdio>
#include <optional>

#include "cli/record_identity.hpp"
#include "cli/session_model.hpp"
#include "cli/stored_match.hpp"
#include "cli/workload_choice.hpp"
#include "report/tables.hpp"

namespace whet {
namespace {

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
  std::optional<SessionReport> session = find_session(database, key, match);
  if (const auto costs = known_costs(limits, environment); session && costs) {
    add_limits(*session, workload.workload.step, limits, *costs);
  }
  if (options.json) {
    print_json(match, session, workload.name, key);
  } else {
    print_text(match, session);
  }
  return match.grade == Match::Exact ? 0 : 1;
}

}  // namespace whet
