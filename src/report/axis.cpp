#include "report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "report/format.hpp"

namespace whet {
namespace {

constexpr double kMargin = 0.04;  // of an axis, at each end

/// The multiples of `step` within the axis.
std::vector<double> multiples(const Axis& axis, double step) {
  std::vector<double> values;
  // A step's rounding must not cost the last tick.
  const auto last = std::llround(std::floor(axis.high / step + 1e-9));
  for (auto i = std::llround(std::ceil(axis.low / step - 1e-9)); i <= last; ++i) {
    values.push_back(static_cast<double>(i) * step);
  }
  return values;
}

std::vector<Tick> log_time_ticks(const Axis& axis) {
  constexpr double kManyDecades = 2.5;
  const bool is_long = std::log10(axis.high / axis.low) > kManyDecades;
  std::vector<Tick> ticks;
  for (double power = std::pow(10.0, std::floor(std::log10(axis.low))); power <= axis.high;
       power *= 10.0) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * power;
      if (value < axis.low || value > axis.high || (is_long && factor != 1.0)) {
        continue;
      }
      const TimeUnit unit = time_unit(value);
      ticks.push_back({.value = value, .label = fmt::format("{:g} {}", value / unit.ns, unit.name)}
      );
    }
  }
  return ticks;
}

}  // namespace

double axis_step(double extent, double num_steps) {
  const double least = extent / num_steps;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) {
      return factor * power;
    }
  }
  return 10.0 * power;
}

Axis linear_axis(std::span<const double> times_ns) {
  if (times_ns.empty()) {
    return {};
  }
  const auto [least, most] = std::ranges::minmax(times_ns);
  if (least == most) {  // in the middle of an axis 2 % wide
    const double margin = std::max(0.01 * std::abs(most), 1e-3);
    return {.low = least - margin, .high = most + margin};
  }
  const double margin = kMargin * (most - least);
  return {
      .low = least < 0.0 ? least - margin : std::max(least - margin, 0.0), .high = most + margin};
}

Axis time_axis(std::span<const double> times_ns) {
  constexpr double kFarApart = 6.0;
  if (times_ns.empty()) {
    return {};
  }
  const auto [least, most] = std::ranges::minmax(times_ns);
  if (least <= 0.0 || most <= kFarApart * least) {
    return linear_axis(times_ns);
  }
  const double margin = std::pow(most / least, kMargin);
  return {.low = least / margin, .high = most * margin, .is_log = true};
}

double position(const Axis& axis, double value) {
  if (axis.is_log) {
    const double share =
        std::log(std::max(value, axis.low) / axis.low) / std::log(axis.high / axis.low);
    return std::clamp(share, 0.0, 1.0);
  }
  return std::clamp((value - axis.low) / (axis.high - axis.low), 0.0, 1.0);
}

std::vector<Tick> time_ticks(const Axis& axis, double num_steps) {
  if (axis.is_log) {
    return log_time_ticks(axis);
  }
  const double step = axis_step(axis.high - axis.low, num_steps);
  const TimeUnit unit = time_unit(axis.high);
  const int decimals =
      std::max(0, -static_cast<int>(std::floor(std::log10(step / unit.ns) + 1e-9)));
  std::vector<Tick> ticks;
  for (const double value : multiples(axis, step)) {
    ticks.push_back(
        {.value = value, .label = fmt::format("{:.{}f} {}", value / unit.ns, decimals, unit.name)}
    );
  }
  return ticks;
}

std::vector<Tick> count_ticks(const Axis& axis) {
  std::vector<Tick> ticks;
  for (const double value : multiples(axis, std::max(1.0, axis_step(axis.high - axis.low)))) {
    ticks.push_back({.value = value, .label = fmt::format("{:.0f}", value)});
  }
  return ticks;
}

}  // namespace whet
