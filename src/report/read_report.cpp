#include "report/read_report.hpp"

#include "base/error.hpp"

namespace whet {
namespace {

/// The decision as its codec writes it, from where a report keeps the parts.
Json decision_json(const Json& entry) {
  Json json{
      {"verdict", entry.at("verdict")},
      {"tie_set", entry.value("tie_set", Json::array())},
      {"baselines", entry.at("baselines")},
      {"detail", entry.at("decision")}};
  for (const char* key : {"winner", "delegate_to"}) {
    if (entry.contains(key)) {
      json[key] = entry[key];
    }
  }
  return json;
}

SessionReport read_entry(const Json& entry) {
  SessionReport report{
      .workload = entry.at("workload").get<std::string>(),
      .key = entry.at("key").get<std::string>(),
      .target = entry.at("target").get<std::string>(),
      .device = entry.at("device").get<std::string>(),
      .budget = entry.at("budget").get<std::string>(),
      .environment = entry.at("environment").get<std::map<std::string, std::string>>(),
      .decision = decision_from_json(decision_json(entry)),
      .evaluations = {},
      .limits_ns = {}};
  if (report.decision.winner && entry.at("winner").contains("limit_ns")) {
    report.limits_ns[report.decision.steps_per_launch] = entry["winner"]["limit_ns"].get<double>();
  }
  for (const Json& evaluation : entry.at("evaluations")) {
    report.evaluations.push_back(evaluation_from_json(evaluation));
  }
  return report;
}

}  // namespace

std::vector<SessionReport> read_report(const Json& document, const std::string& name) {
  const std::string schema = document.is_object() ? document.value("schema", "") : "";
  if (schema != "whet.report/1" && schema != "whet.result/1") {
    throw UserError(fmt::format(
        "{}: schema: expected whet.report/1 or whet.result/1, found '{}'; `whet report --format "
        "json` writes one with its samples",
        name,
        schema
    ));
  }
  const Json entries = schema == "whet.report/1" ? document.value("entries", Json::array())
                                                 : Json::array({document});
  std::vector<SessionReport> reports;
  for (const Json& entry : entries) {
    try {
      reports.push_back(read_entry(entry));
    } catch (const nlohmann::json::exception& error) {
      throw UserError(fmt::format("{}: entry {}: {}", name, reports.size(), error.what()));
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: entry {}: {}", name, reports.size(), error.what()));
    }
  }
  return reports;
}

}  // namespace whet
