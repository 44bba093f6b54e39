#include "artifact/stamp_plan.hpp"

#include <array>
#include <utility>

#include "artifact/field_reader.hpp"

namespace whet {
namespace {

constexpr std::array<std::pair<Edge, std::string_view>, 4> kEdges = {
    {{Edge::None, "none"},
     {Edge::Block, "block"},
     {Edge::Cluster, "cluster"},
     {Edge::Grid, "grid"}}};

StampedPhase phase_from_json(const Json& json, const std::string& where) {
  const FieldReader reader(json, where);
  StampedPhase phase;
  const Json& tasks = reader.member("tasks");
  if (!tasks.is_array()) {
    reader.fail("tasks", "an array");
  }
  for (const Json& task : tasks) {
    if (!task.is_string()) {
      reader.fail("tasks", "names of tasks");
    }
    phase.tasks.push_back(task.get<std::string>());
  }
  std::string word;
  reader.read(word, "edge_before");
  const std::optional<Edge> edge = parse_edge(word);
  if (!edge) {
    reader.fail("edge_before", "none, block, cluster or grid");
  }
  phase.edge_before = *edge;
  reader.read(phase.waits_in_tiles, "waits_in_tiles");
  reader.read(phase.has_teams, "has_teams");
  return phase;
}

}  // namespace

std::string_view edge_word(Edge edge) {
  for (const auto& [value, word] : kEdges) {
    if (value == edge) {
      return word;
    }
  }
  WHET_CHECK(false, "no such edge");
}

std::optional<Edge> parse_edge(std::string_view text) {
  for (const auto& [value, word] : kEdges) {
    if (word == text) {
      return value;
    }
  }
  return std::nullopt;
}

Json to_json(const StampPlan& plan) {
  Json phases = Json::array();
  for (const StampedPhase& phase : plan.phases) {
    phases.push_back(
        {{"tasks", phase.tasks},
         {"edge_before", edge_word(phase.edge_before)},
         {"waits_in_tiles", phase.waits_in_tiles},
         {"has_teams", phase.has_teams}}
    );
  }
  return {{"offset_bytes", plan.offset_bytes}, {"phases", std::move(phases)}};
}

StampPlan stamp_plan_from_json(const Json& json, const std::string& where) {
  const FieldReader reader(json, where);
  StampPlan plan;
  reader.read<std::size_t>(plan.offset_bytes, "offset_bytes", 0);
  const Json& phases = reader.member("phases");
  if (!phases.is_array()) {
    reader.fail("phases", "an array");
  }
  for (std::size_t i = 0; i < phases.size(); ++i) {
    plan.phases.push_back(phase_from_json(phases[i], fmt::format("{}.phases[{}]", where, i)));
  }
  return plan;
}

}  // namespace whet
