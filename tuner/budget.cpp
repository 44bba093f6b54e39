#include "tuner/budget.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/error.hpp"

namespace whet {
namespace {

/// A year: beyond it a number is a slip of the finger, and arithmetic on it stays far from
/// overflow.
constexpr std::int64_t kMaxSeconds = 365LL * 24 * 3600;
constexpr std::int64_t kMaxEvaluations = 1'000'000'000;

[[noreturn]] void fail(const std::string& text) {
  throw UserError(fmt::format(
      "budget: expected a number of candidates such as 200, or a time such as 90s, 5m or 2h, found "
      "\"{}\"",
      text
  ));
}

/// Seconds of a unit, or 0 for a count.
std::int64_t unit_seconds(const std::string& unit, const std::string& text) {
  if (unit.empty()) {
    return 0;
  }
  if (unit == "s") {
    return 1;
  }
  if (unit == "m") {
    return 60;
  }
  if (unit == "h") {
    return 3600;
  }
  fail(text);
}

}  // namespace

Budget parse_budget(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0) {
    fail(text);
  }
  const std::string unit(end, text.data() + text.size());
  const std::int64_t seconds = unit_seconds(unit, text);
  Budget budget;
  if (seconds == 0) {
    if (number > kMaxEvaluations) {
      fail(text);
    }
    budget.num_evaluations = number;
    return budget;
  }
  if (number > kMaxSeconds / seconds) {
    fail(text);
  }
  budget.time = std::chrono::seconds(number * seconds);
  return budget;
}

std::string to_text(const Budget& budget) {
  if (budget.num_evaluations) {
    return std::to_string(*budget.num_evaluations);
  }
  if (!budget.time) {
    return "unlimited";
  }
  const std::int64_t seconds = budget.time->count();
  if (seconds % 3600 == 0) {
    return fmt::format("{}h", seconds / 3600);
  }
  return seconds % 60 == 0 ? fmt::format("{}m", seconds / 60) : fmt::format("{}s", seconds);
}

bool is_exhausted(const Budget& budget, const Spent& spent) {
  return (budget.num_evaluations && spent.num_evaluations >= *budget.num_evaluations) ||
         (budget.time && spent.time >= *budget.time);
}

double fraction_spent(const Budget& budget, const Spent& spent) {
  double fraction = 0.0;
  if (budget.num_evaluations) {
    fraction =
        static_cast<double>(spent.num_evaluations) / static_cast<double>(*budget.num_evaluations);
  }
  if (budget.time) {
    const std::chrono::duration<double> seconds = spent.time;
    fraction = std::max(fraction, seconds.count() / static_cast<double>(budget.time->count()));
  }
  return std::min(fraction, 1.0);
}

}  // namespace whet
