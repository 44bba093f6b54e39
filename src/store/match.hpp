#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "schedule/device_limits.hpp"
#include "store/decision.hpp"

namespace whet {

/// What decides whether a stored decision is about the same thing. Versions are apart: they grade.
struct LookupKey {
  std::string workload_key;
  std::string device_class;
  Target target = Target::Cpu;
  std::string tolerance_set;

  bool operator==(const LookupKey&) const = default;
};

/// What a look-up found, and how good it is.
struct Match {
  enum class Grade {
    Exact,
    OtherVersion,      ///< the same key, but something was another version: `reason` says what
    NearShape,         ///< another workload whose decision is expected to fit
    Default,           ///< nothing is stored: the untuned heuristic
    StoreUnavailable,  ///< it is not known whether something is stored: `reason` says why
  };
  using enum Grade;

  Grade grade = Default;
  std::string reason{};                ///< empty: Exact
  std::optional<Decision> decision{};  ///< none: Default, StoreUnavailable
  std::string session_uid{};           ///< where the decision comes from
  Json versions = Json::object();      ///< under which it was made

  bool operator==(const Match&) const = default;
};
/// "Exact", "OtherVersion" …
std::string_view grade_name(Match::Grade grade);

}  // namespace whet
