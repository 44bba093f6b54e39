#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "schedule/configuration.hpp"

namespace whet {

/// What a tuning session advises.
enum class Verdict {
  Use,           ///< the winner surely beats the baseline
  KeepBaseline,  ///< nothing surely beats it
  Delegate,      ///< a peer is surely faster than all of ours
  NoValid,       ///< no candidate was valid
};
/// "Use", "KeepBaseline", "Delegate", "NoValid".
std::string_view verdict_name(Verdict verdict);
std::optional<Verdict> parse_verdict(std::string_view name);

/// A time in ns a step, with the interval that holds it.
struct TimeSummary {
  double median = 0.0;
  double low = 0.0;
  double high = 0.0;

  bool operator==(const TimeSummary&) const = default;
};

/// Something that the winner was compared with: our default configuration, or a peer.
struct MeasuredBaseline {
  std::string name;
  TimeSummary time_ns;
  std::int64_t steps_per_launch = 1;

  bool operator==(const MeasuredBaseline&) const = default;
};

/// How a session ended.
struct Decision {
  Verdict verdict = Verdict::NoValid;
  std::optional<Configuration> winner;  ///< none: NoValid. The best of ours when delegating
  std::string delegate_to;              ///< a peer's name when delegating
  std::optional<TimeSummary> time_ns;   ///< the winner's, from samples taken after the choice
  std::int64_t steps_per_launch = 1;    ///< the winner's
  std::vector<Configuration> tie_set;   ///< what cannot be told apart from the best
  std::vector<MeasuredBaseline> baselines;
  Json detail = Json::object();  ///< the figures behind the verdict

  bool operator==(const Decision&) const = default;
};

/// The one JSON codec. decision_from_json throws UserError naming the missing or wrong field.
Json to_json(const Decision& decision);
Decision decision_from_json(const Json& json);

}  // namespace whet
