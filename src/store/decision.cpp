#include "store/decision.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.hpp"

namespace whet {
namespace {

constexpr std::array<std::string_view, 4> kVerdictNames{
    "Use", "KeepBaseline", "Delegate", "NoValid"};

/// The member `key` as T. Throws UserError naming it.
template <typename T>
T field(const Json& json, const char* key) {
  try {
    return json.at(key).get<T>();
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("decision: field {}: {}", key, error.what()));
  }
}

Json to_json(const TimeSummary& time_ns) {
  return {{"median", time_ns.median}, {"low", time_ns.low}, {"high", time_ns.high}};
}

TimeSummary time_from_json(const Json& json) {
  return {
      .median = field<double>(json, "median"),
      .low = field<double>(json, "low"),
      .high = field<double>(json, "high")};
}

Configuration configuration_from_json(const Json& json) {
  try {
    return {.values = json.get<std::map<std::string, std::string>>()};
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("decision: a configuration: {}", error.what()));
  }
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  return kVerdictNames.at(static_cast<std::size_t>(verdict));
}

std::optional<Verdict> parse_verdict(std::string_view name) {
  const auto found = std::find(kVerdictNames.begin(), kVerdictNames.end(), name);
  if (found == kVerdictNames.end()) {
    return std::nullopt;
  }
  return static_cast<Verdict>(found - kVerdictNames.begin());
}

Json to_json(const Decision& decision) {
  Json json{{"verdict", std::string(verdict_name(decision.verdict))}};
  if (decision.winner) {
    Json winner{{"configuration", decision.winner->values}};
    if (decision.time_ns) {
      winner["time_ns"] = to_json(*decision.time_ns);
    }
    winner["steps_per_launch"] = decision.steps_per_launch;
    json["winner"] = std::move(winner);
  }
  if (!decision.delegate_to.empty()) {
    json["delegate_to"] = decision.delegate_to;
  }
  json["tie_set"] = Json::array();
  for (const Configuration& configuration : decision.tie_set) {
    json["tie_set"].push_back(configuration.values);
  }
  json["baselines"] = Json::array();
  for (const MeasuredBaseline& baseline : decision.baselines) {
    json["baselines"].push_back(
        {{"name", baseline.name},
         {"time_ns", to_json(baseline.time_ns)},
         {"steps_per_launch", baseline.steps_per_launch}}
    );
  }
  json["detail"] = decision.detail;
  return json;
}

Decision decision_from_json(const Json& json) {
  Decision decision;
  const auto verdict = parse_verdict(field<std::string>(json, "verdict"));
  if (!verdict) {
    throw UserError(
        fmt::format("decision: field verdict: unknown {}", field<std::string>(json, "verdict"))
    );
  }
  decision.verdict = *verdict;
  if (json.contains("winner")) {
    const auto winner = field<Json>(json, "winner");
    decision.winner = configuration_from_json(field<Json>(winner, "configuration"));
    if (winner.contains("time_ns")) {
      decision.time_ns = time_from_json(winner["time_ns"]);
    }
    decision.steps_per_launch = field<std::int64_t>(winner, "steps_per_launch");
  }
  if (json.contains("delegate_to")) {
    decision.delegate_to = field<std::string>(json, "delegate_to");
  }
  for (const Json& configuration : field<Json>(json, "tie_set")) {
    decision.tie_set.push_back(configuration_from_json(configuration));
  }
  for (const Json& baseline : field<Json>(json, "baselines")) {
    decision.baselines.push_back(
        {.name = field<std::string>(baseline, "name"),
         .time_ns = time_from_json(field<Json>(baseline, "time_ns")),
         .steps_per_launch = field<std::int64_t>(baseline, "steps_per_launch")}
    );
  }
  decision.detail = field<Json>(json, "detail");
  return decision;
}

}  // namespace whet
