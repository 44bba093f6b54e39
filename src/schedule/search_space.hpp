#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "schedule/configuration.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// A tunable with its candidate values, in the order in which a search should try them.
struct Knob {
  std::string name;
  std::vector<std::string> values;
  std::string default_value;
  std::string about;                       ///< one line for `whet show --space`
  std::vector<std::string> unlikely = {};  ///< values far from fast here, which sample() leaves out
};

/// Why a configuration is not legal: the constraint's name and the two numbers in one sentence.
struct ConstraintViolation {
  std::string constraint;
  std::string detail;
};

/// The configurations of a Program on a device. Never materialised: points are computed from an
/// index.
class SearchSpace {
 public:
  SearchSpace(const Program& program, const DeviceLimits& limits);

  const std::vector<Knob>& knobs() const { return knobs_; }
  /// Product of the knobs' value counts: an upper bound, since constraints rule some out.
  double size_bound() const;
  /// The untuned heuristic: the baseline of every search.
  Configuration default_configuration() const;
  /// The n-th point of the seeded order. Partition, engine, operands and fusions are strata: half
  /// of the points keep their defaults, a quarter change one of them in turn, a quarter draw them
  /// all; so the first points touch every likely value. Points may repeat or be illegal; callers
  /// check both.
  Configuration sample(std::uint64_t seed, std::uint64_t n) const;
  /// The n-th point in mixed-radix order, n < size_bound(): what `exhaustive` walks.
  Configuration at(std::uint64_t n) const;
  /// Nothing if every knob has exactly one of its values; else what is wrong with the first bad
  /// one.
  std::optional<std::string> why_not_member(const Configuration& configuration) const;
  /// `configuration` with defaults for the knobs that it does not name.
  Configuration complete(const Configuration& configuration) const;

 private:
  std::vector<Knob> knobs_;
};

}  // namespace whet
