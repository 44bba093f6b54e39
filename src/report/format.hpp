#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/decision.hpp"

namespace whet {

/// What times are printed in.
struct TimeUnit {
  double ns = 1.0;  ///< of one
  std::string_view name;
};

/// The largest of s, ms, µs and ns of which `time_ns` is at least one.
TimeUnit time_unit(double time_ns);
/// "1.62 µs", "845 ns", "3.10 ms": three significant digits with a unit.
std::string format_time(double time_ns);
/// "1.62 µs [1.60 µs, 1.65 µs]".
std::string format_summary(const TimeSummary& time_ns);
/// Whether fresh processes disagreed so much that the interval is too wide to quote a ratio with.
bool is_unsteady(const TimeSummary& time_ns);
/// "2.31 x": how many times as fast as `baseline` something of `time_ns` is; "unsteady" when
/// either is, for then the ratio is of other work and not of these two.
std::string format_speedup(const TimeSummary& baseline, const TimeSummary& time_ns);
/// "1.92 µs, measured / limit 6.2", or why there is none.
std::string format_limit(std::optional<double> limit_ns, const TimeSummary& time_ns);
/// The verdict and what it means, in a sentence.
std::string describe_verdict(const Decision& decision);
/// What was measured so unsteadily that no ratio with it may be quoted, with commas.
std::string unsteady_names(const Decision& decision);
/// "1:05", "2:01:09".
std::string format_duration(double seconds);
/// `text` with `|` and line ends escaped for a cell of a Markdown table.
std::string markdown_cell(const std::string& text);
/// `text` quoted for a CSV field where it has to be. Source: RFC 4180.
std::string csv_field(const std::string& text);

}  // namespace whet
