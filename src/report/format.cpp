#include "report/format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace whet {

namespace {

/// Three significant digits of a number from 1 to 1000, without a trailing point.
std::string three_digits(double value) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

TimeUnit time_unit(double time_ns) {
  constexpr std::array kUnits{TimeUnit{1e9, "s"}, TimeUnit{1e6, "ms"}, TimeUnit{1e3, "µs"}};
  for (const TimeUnit& unit : kUnits) {
    // 999.5 of the smaller unit would print as 1000.
    if (time_ns >= 0.9995 * unit.ns) {
      return unit;
    }
  }
  return {1.0, "ns"};
}

std::string format_time(double time_ns) {
  const TimeUnit unit = time_unit(time_ns);
  return fmt::format("{} {}", three_digits(time_ns / unit.ns), unit.name);
}

std::string format_summary(const TimeSummary& time_ns) {
  return fmt::format(
      "{} [{}, {}]",
      format_time(time_ns.median),
      format_time(time_ns.low),
      format_time(time_ns.high)
  );
}

bool is_unsteady(const TimeSummary& time_ns) {
  // Steady intervals are a few percent wide. Beside other work on all cores those of LibTorch's
  // threads were wider than their median, which was fifty times too large; and LibTorch has two
  // speeds from process to process even on an idle machine.
  constexpr double kWidest = 0.25;
  return time_ns.high - time_ns.low > kWidest * time_ns.median;
}

std::string format_speedup(const TimeSummary& baseline, const TimeSummary& time_ns) {
  if (is_unsteady(baseline) || is_unsteady(time_ns)) {
    return "unsteady";
  }
  return fmt::format("{:.2f} x", baseline.median / time_ns.median);
}

std::string format_limit(std::optional<double> limit_ns, const TimeSummary& time_ns) {
  if (!limit_ns) {
    return "no costs for this device: measured / limit is not shown (whet doctor --calibrate)";
  }
  return fmt::format(
      "{}, measured / limit {:.1f}", format_time(*limit_ns), time_ns.median / *limit_ns
  );
}

std::string describe_verdict(const Decision& decision) {
  switch (decision.verdict) {
    case Verdict::Use:
      return "Use: the winner surely beats the untuned baseline";
    case Verdict::KeepBaseline:
      return "KeepBaseline: nothing surely beats the untuned baseline";
    case Verdict::Delegate:
      return fmt::format("Delegate: {} is surely faster; use that", decision.delegate_to);
    case Verdict::NoValid:
      break;
  }
  return "NoValid: no candidate was valid";
}

std::string unsteady_names(const Decision& decision) {
  std::string names = decision.time_ns && is_unsteady(*decision.time_ns) ? "winner" : "";
  for (const MeasuredBaseline& baseline : decision.baselines) {
    if (is_unsteady(baseline.time_ns)) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", baseline.name);
    }
  }
  return names;
}

std::string format_duration(double seconds) {
  const auto total = std::llround(seconds);
  if (total >= 3600) {
    return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  }
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') {
      cell += "\\|";
    } else if (c == '\n' || c == '\r') {
      cell += ' ';
    } else {
      cell += c;
    }
  }
  return cell;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string field = "\"";
  for (const char c : text) {
    field += c;
    if (c == '"') {
      field += c;
    }
  }
  return field + "\"";
}

}  // namespace whet
