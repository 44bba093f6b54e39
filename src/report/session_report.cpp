#include "report/session_report.hpp"

#include <algorithm>
#include <set>

#include "model/limit.hpp"

namespace whet {
namespace {

Json to_json(const TimeSummary& time_ns) {
  return {{"median", time_ns.median}, {"low", time_ns.low}, {"high", time_ns.high}};
}

/// Samples of the winner that its published time comes from: those taken last, after the choice
/// where there are such.
std::int64_t num_published_samples(const SessionReport& report) {
  const auto& evaluations = report.evaluations;
  const auto winner = std::ranges::find_if(evaluations, [&](const Evaluation& evaluation) {
    return evaluation.configuration == report.decision.winner;
  });
  if (winner == evaluations.end()) {
    return 0;
  }
  std::map<std::string, std::int64_t> counts;
  for (const SampleBlock& block : winner->blocks) {
    counts[block.purpose] += static_cast<std::int64_t>(block.samples.size());
  }
  for (const char* purpose : {"publish", "final", "screen"}) {
    if (const auto found = counts.find(purpose); found != counts.end()) {
      return found->second;
    }
  }
  return 0;
}

Json winner_json(const SessionReport& report) {
  const Decision& decision = report.decision;
  Json winner{{"configuration", decision.winner->values}};
  if (decision.time_ns) {
    winner["time_ns"] = to_json(*decision.time_ns);
  }
  winner["steps_per_launch"] = decision.steps_per_launch;
  if (const std::optional<double> limit_ns = winner_limit_ns(report)) {
    winner["limit_ns"] = *limit_ns;
    if (decision.time_ns) {
      winner["measured_per_limit"] = decision.time_ns->median / *limit_ns;
    }
  }
  if (const std::int64_t num_samples = num_published_samples(report); num_samples > 0) {
    winner["samples"] = num_samples;
  }
  return winner;
}

Json baselines_json(const Decision& decision) {
  Json list = Json::array();
  for (const MeasuredBaseline& baseline : decision.baselines) {
    list.push_back(
        {{"name", baseline.name},
         {"time_ns", to_json(baseline.time_ns)},
         {"steps_per_launch", baseline.steps_per_launch}}
    );
  }
  return list;
}

void append_entry(Json& json, const SessionReport& report, Samples samples) {
  json["workload"] = report.workload;
  json["key"] = report.key;
  json["target"] = report.target;
  json["device"] = report.device;
  json["verdict"] = verdict_name(report.decision.verdict);
  if (!report.decision.delegate_to.empty()) {
    json["delegate_to"] = report.decision.delegate_to;
  }
  if (report.decision.winner) {
    json["winner"] = winner_json(report);
  }
  json["baselines"] = baselines_json(report.decision);
  Json counts = Json::object();
  for (const auto& [status, count] : count_statuses(report.evaluations)) {
    counts[std::string(status_name(status))] = count;
  }
  json["counts"] = counts;
  json["budget"] = report.budget;
  json["environment"] = report.environment;
  json["decision"] =
      samples == Samples::Kept ? report.decision.detail : detail_without_samples(report.decision);
  if (samples == Samples::Kept) {
    json["tie_set"] = Json::array();
    for (const Configuration& tied : report.decision.tie_set) {
      json["tie_set"].push_back(tied.values);
    }
    Json list = Json::array();
    for (const Evaluation& evaluation : report.evaluations) {
      list.push_back(to_json(evaluation));
    }
    json["evaluations"] = list;
  }
}

std::optional<double> limit_of(const SessionReport& report, std::int64_t steps) {
  const auto found = report.limits_ns.find(steps);
  return found == report.limits_ns.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

void add_limits(
    SessionReport& report,
    const Program& program,
    const DeviceLimits& limits,
    const DeviceCosts& costs
) {
  std::set<std::int64_t> steps{report.decision.steps_per_launch};
  for (const Evaluation& evaluation : report.evaluations) {
    steps.insert(steps_per_launch(evaluation.configuration));
  }
  for (const std::int64_t count : steps) {
    report.limits_ns[count] = total_ns(find_limit(program, limits, costs, count));
  }
}

std::optional<double> winner_limit_ns(const SessionReport& report) {
  return limit_of(report, report.decision.steps_per_launch);
}

std::optional<double> limit_ns(const SessionReport& report, const Configuration& configuration) {
  return limit_of(report, steps_per_launch(configuration));
}

std::map<Status, std::int64_t> count_statuses(const std::vector<Evaluation>& evaluations) {
  std::map<Status, std::int64_t> counts;
  for (const Evaluation& evaluation : evaluations) {
    ++counts[evaluation.status];
  }
  return counts;
}

Json detail_without_samples(const Decision& decision) {
  Json detail = decision.detail;
  detail.erase("peer_samples");
  return detail;
}

Json result_document(const SessionReport& report, Samples samples) {
  Json document{{"schema", "whet.result/1"}};
  append_entry(document, report, samples);
  return document;
}

Json report_document(
    const std::string& name, const std::vector<SessionReport>& reports, Samples samples
) {
  Json document{{"schema", "whet.report/1"}, {"name", name}};
  Json entries = Json::array();
  for (const SessionReport& report : reports) {
    Json entry = Json::object();
    append_entry(entry, report, samples);
    entries.push_back(entry);
  }
  document["entries"] = entries;
  return document;
}

}  // namespace whet
