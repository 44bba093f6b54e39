#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "evaluation/evaluation.hpp"
#include "ir/program.hpp"
#include "model/device_costs.hpp"
#include "schedule/device_limits.hpp"
#include "store/decision.hpp"

namespace whet {

/// What one workload's tuning came to, with its evidence.
struct SessionReport {
  std::string workload;  ///< the user's name, or the suite entry's
  std::string key;
  std::string target;
  std::string device;
  std::string budget;
  std::map<std::string, std::string> environment;  ///< versions of what took part
  Decision decision;
  std::vector<Evaluation> evaluations;  ///< all candidates, with their raw samples
  /// What a step costs at the least (see find_limit), by the steps of a launch; empty where the
  /// costs of the device are not known.
  std::map<std::int64_t, double> limits_ns;
};

/// Fills in the limits for each number of steps a launch that the session has.
void add_limits(
    SessionReport& report,
    const Program& program,
    const DeviceLimits& limits,
    const DeviceCosts& costs
);
/// That of the winner's launches; nothing if it is not known.
std::optional<double> winner_limit_ns(const SessionReport& report);
/// That of a candidate's launches.
std::optional<double> limit_ns(const SessionReport& report, const Configuration& configuration);

/// How the candidates ended.
std::map<Status, std::int64_t> count_statuses(const std::vector<Evaluation>& evaluations);

/// The figures behind a verdict, without the samples of peers that a session keeps among them.
Json detail_without_samples(const Decision& decision);

/// Whether the raw samples go into a document.
enum class Samples { Left, Kept };

/// A `whet.result/1` document (docs/formats/result.md).
Json result_document(const SessionReport& report, Samples samples);
/// A `whet.report/1` document of a suite or a database.
Json report_document(
    const std::string& name, const std::vector<SessionReport>& reports, Samples samples
);

}  // namespace whet
