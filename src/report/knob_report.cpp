#include "report/knob_report.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

namespace whet {
namespace {

/// Numbers in their order, then words in theirs.
struct InOrder {
  using is_transparent = void;
  static std::pair<std::int64_t, std::string> rank(const std::string& value) {
    std::int64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [stopped, error] = std::from_chars(value.data(), end, number);
    const bool is_number = error == std::errc{} && stopped == end;
    return {is_number ? number : std::numeric_limits<std::int64_t>::max(), value};
  }
  bool operator()(const std::string& a, const std::string& b) const { return rank(a) < rank(b); }
};

/// Screening times of the Ok candidates by value.
using TimesByValue = std::map<std::string, std::vector<double>, InOrder>;

std::optional<double> best_of(const std::vector<double>& times) {
  if (static_cast<std::int64_t>(times.size()) < kMinCandidatesOfAValue) {
    return std::nullopt;
  }
  return *std::min_element(times.begin(), times.end());
}

KnobSummary summarise(
    const std::string& knob,
    const std::string& default_value,
    const TimesByValue& by_value,
    double best_ns
) {
  KnobSummary summary{
      .knob = knob, .default_value = default_value, .values = {}, .default_cost = {}};
  for (const auto& [value, times] : by_value) {
    summary.values.push_back(
        {.value = value,
         .num_ok = static_cast<std::int64_t>(times.size()),
         .best_ns = best_of(times)}
    );
    if (value == default_value && summary.values.back().best_ns) {
      summary.default_cost = *summary.values.back().best_ns / best_ns - 1.0;
    }
  }
  return summary;
}

Json to_json(const KnobSummary& summary) {
  Json json{{"knob", summary.knob}, {"default", summary.default_value}, {"values", Json::array()}};
  if (summary.default_cost) {
    json["default_cost"] = *summary.default_cost;
  }
  for (const KnobValue& value : summary.values) {
    Json entry{{"value", value.value}, {"num_ok", value.num_ok}};
    if (value.best_ns) {
      entry["best_ns"] = *value.best_ns;
    }
    json["values"].push_back(entry);
  }
  return json;
}

}  // namespace

KnobReport knob_report(const SessionReport& session) {
  KnobReport report{
      .workload = session.workload,
      .key = session.key,
      .target = session.target,
      .device = session.device,
      .num_ok = 0,
      .best_ns = {},
      .knobs = {}};
  if (session.evaluations.empty()) {
    return report;
  }
  const auto& defaults = session.evaluations.front().configuration.values;
  std::map<std::string, TimesByValue> times;
  for (const auto& [knob, value] : defaults) {
    times[knob][value];  // a default that no valid candidate has is still a row
  }
  for (const Evaluation& evaluation : session.evaluations) {
    const auto time_ns = median_time_ns(evaluation, "screen");
    if (evaluation.status != Status::Ok || !time_ns) {
      continue;
    }
    ++report.num_ok;
    report.best_ns = std::min(report.best_ns.value_or(*time_ns), *time_ns);
    for (const auto& [knob, value] : evaluation.configuration.values) {
      if (defaults.contains(knob)) {
        times[knob][value].push_back(*time_ns);
      }
    }
  }
  for (const auto& [knob, by_value] : times) {
    report.knobs.push_back(
        summarise(knob, defaults.at(knob), by_value, report.best_ns.value_or(1.0))
    );
  }
  return report;
}

Json knobs_document(const std::vector<KnobReport>& reports) {
  Json document{{"schema", "whet.knobs/1"}, {"entries", Json::array()}};
  for (const KnobReport& report : reports) {
    Json entry{
        {"workload", report.workload},
        {"key", report.key},
        {"target", report.target},
        {"device", report.device},
        {"num_ok", report.num_ok},
        {"knobs", Json::array()}};
    if (report.best_ns) {
      entry["best_ns"] = *report.best_ns;
    }
    for (const KnobSummary& summary : report.knobs) {
      entry["knobs"].push_back(to_json(summary));
    }
    document["entries"].push_back(entry);
  }
  return document;
}

}  // namespace whet
