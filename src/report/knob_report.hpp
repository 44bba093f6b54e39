#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/session_report.hpp"

namespace whet {

/// The Ok candidates of a session that have a knob at one value.
struct KnobValue {
  std::string value;
  std::int64_t num_ok = 0;
  std::optional<double> best_ns;  ///< least screening median; nothing of too few candidates

  bool operator==(const KnobValue&) const = default;
};

struct KnobSummary {
  std::string knob;
  std::string default_value;
  std::vector<KnobValue> values;  ///< numbers in their order, then words
  /// Best with the knob at its default over best of all, minus 1; nothing of too few candidates.
  std::optional<double> default_cost;

  bool operator==(const KnobSummary&) const = default;
};

/// What each knob of a workload's search brought.
struct KnobReport {
  std::string workload;
  std::string key;
  std::string target;
  std::string device;
  std::int64_t num_ok = 0;
  std::optional<double> best_ns;
  std::vector<KnobSummary> knobs;  ///< by name
};

/// Fewer Ok candidates than this say nothing about a value.
inline constexpr std::int64_t kMinCandidatesOfAValue = 3;

/// From a session's candidates, of which the first is the untuned default.
KnobReport knob_report(const SessionReport& session);

/// A `whet.knobs/1` document (docs/formats/result.md).
Json knobs_document(const std::vector<KnobReport>& reports);

}  // namespace whet
