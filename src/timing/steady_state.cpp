#include "timing/steady_state.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace whet {
namespace {

double median_time_ns(std::span<const TimedSample> samples) {
  std::vector<double> times;
  times.reserve(samples.size());
  for (const TimedSample& sample : samples) {
    times.push_back(sample.time_ns);
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

bool is_clock_steady(std::span<const TimedSample> samples, double tolerance) {
  const auto [low, high] = std::minmax_element(
      samples.begin(),
      samples.end(),
      [](const TimedSample& a, const TimedSample& b) {
        return a.conditions.clock_mhz < b.conditions.clock_mhz;
      }
  );
  const double low_mhz = low->conditions.clock_mhz;
  const double high_mhz = high->conditions.clock_mhz;
  return high_mhz - low_mhz <= tolerance * high_mhz;
}

}  // namespace

bool is_steady(std::span<const TimedSample> samples, const SteadyRule& rule) {
  const auto window = static_cast<std::size_t>(rule.window);
  if (window == 0 || samples.size() < 2 * window) {
    return false;
  }
  const auto last = samples.last(window);
  const auto before = samples.subspan(samples.size() - 2 * window, window);
  const double last_ns = median_time_ns(last);
  const double before_ns = median_time_ns(before);
  return std::abs(last_ns - before_ns) <= rule.time_tolerance * before_ns &&
         is_clock_steady(samples.last(2 * window), rule.clock_tolerance);
}

}  // namespace whet
