#include "report/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/json.hpp"
#include "evaluation/evaluation.hpp"
#include "ir/workload.hpp"
#include "model/predict.hpp"
#include "schedule/resolve.hpp"

namespace whet {
namespace {

const std::filesystem::path kRoot = WHET_SOURCE_DIR;

/// Measured 1 to 20, the model wrong about two neighbours.
std::vector<RankedTime> twenty() {
  std::vector<RankedTime> times;
  for (int i = 20; i >= 1; --i) {
    times.push_back({.measured_ns = 1.0 * i, .predicted_ns = 2.0 * i});
  }
  std::swap(times[18].predicted_ns, times[19].predicted_ns);
  return times;
}

TEST(Ranking, ComparesThePredictedOrderWithTheMeanOfAll) {
  const Ranking ranking = rank(twenty());
  EXPECT_EQ(ranking.num_evaluations, 20);
  EXPECT_NEAR(ranking.correlation, 1 - 6.0 * 2 / (20 * 399), 1e-12);
  EXPECT_NEAR(ranking.log_error, std::log(2.0), 1e-12);
  ASSERT_EQ(ranking.regrets.size(), 1U);
  EXPECT_DOUBLE_EQ(ranking.regrets[0].predicted_order, 0.0);
  // The least of 10 of the numbers 1 to 20 is 21 / 11 in the mean.
  EXPECT_NEAR(ranking.regrets[0].random_order, 21.0 / 11 - 1, 1e-12);
}

TEST(Ranking, TableSaysWhyThereIsNoRanking) {
  const std::string table = ranking_table(
      {{.workload = "a", .device = "d", .ranking = rank(twenty()), .problem = ""},
       {.workload = "b", .device = "d", .ranking = {}, .problem = "3 candidates, 20 needed"}}
  );
  EXPECT_NE(table.find("| a | d | 20 | 0.998 | 2.00 | 0.0 % (90.9 %) | – | – |"), std::string::npos)
      << table;
  EXPECT_NE(table.find("| b | d | – | 3 candidates, 20 needed |"), std::string::npos) << table;
}

/// The ranking of a published session of results/h200, whose generator had no shadows, no early
/// reads, no phases that each block repeats and no copies of inputs.
Ranking rank_published(const Json& entry, const Program& program) {
  const DeviceLimits limits = load_device_limits("h200", kRoot / "configs/devices");
  const DeviceCosts costs = load_device_costs(kRoot / "configs/costs/h200.json");
  const SearchSpace space(program, limits);
  const std::map<std::string, std::string> absent{
      {"early_reads", "off"}, {"shadows", "off"}, {"repeat_cheap", "off"}, {"inputs", "global"}};
  std::vector<RankedTime> times;
  for (const Json& json : entry.at("evaluations")) {
    const Evaluation evaluation = evaluation_from_json(json);
    const std::optional<double> measured_ns = median_time_ns(evaluation, "screen");
    if (evaluation.status != Status::Ok || !measured_ns) {
      continue;
    }
    Configuration configuration = space.complete(evaluation.configuration);
    for (const auto& [name, value] : absent) {
      if (configuration.values.contains(name)) {
        configuration.values[name] = value;
      }
    }
    const auto outcome = resolve(program, configuration, limits);
    if (const auto* schedule = std::get_if<Schedule>(&outcome)) {
      times.push_back({*measured_ns, total_ns(predict(*schedule, limits, costs))});
    }
  }
  return rank(times);
}

TEST(Ranking, ModelOrdersThePublishedSessionsOfAnH200) {
  std::map<std::string, Program> programs;
  for (const SuiteEntry& entry : load_suite(kRoot / "workloads/seeds.json").entries) {
    Program step = load_workload(entry.workload, entry.dims).step;
    programs[workload_key(step)] = std::move(step);
  }
  const Json report = JsonCursor::parse_file(kRoot / "results/h200/seeds_128caa7.json").value();
  double sum = 0.0;
  int num_sessions = 0;
  for (const Json& entry : report.at("entries")) {
    const Ranking ranking = rank_published(entry, programs.at(entry.at("key")));
    EXPECT_GE(ranking.num_evaluations, kMinRanked);
    EXPECT_GT(ranking.correlation, 0.75) << entry.at("workload");
    for (const Regret& regret : ranking.regrets) {
      EXPECT_LE(regret.predicted_order, 0.2) << entry.at("workload");
    }
    sum += ranking.correlation;
    ++num_sessions;
  }
  EXPECT_EQ(num_sessions, 10);
  EXPECT_GT(sum / num_sessions, 0.85);
}

}  // namespace
}  // namespace whet
