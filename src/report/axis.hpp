#pragma once

#include <span>
#include <string>
#include <vector>

namespace whet {

/// A scale of a figure. `low` < `high`; both are positive where `is_log`.
struct Axis {
  double low = 0.0;
  double high = 1.0;
  bool is_log = false;

  bool operator==(const Axis&) const = default;
};

struct Tick {
  double value = 0.0;
  std::string label;

  bool operator==(const Tick&) const = default;
};

/// 1, 2 or 5 times a power of ten, so that about `num_steps` of them make `extent` > 0.
double axis_step(double extent, double num_steps = 10.0);
/// A linear axis that holds all of `times_ns` with a margin. Times that are all alike, or none,
/// have an axis too.
Axis linear_axis(std::span<const double> times_ns);
/// As linear_axis, but logarithmic where the times lie far apart.
Axis time_axis(std::span<const double> times_ns);
/// Where `value` lies: 0 at `low`, 1 at `high`; what is beyond lies at that end.
double position(const Axis& axis, double value);
/// About `num_steps` round times with a unit, or a few a decade of a logarithmic axis.
std::vector<Tick> time_ticks(const Axis& axis, double num_steps = 8.0);
/// Round numbers.
std::vector<Tick> count_ticks(const Axis& axis);

}  // namespace whet
