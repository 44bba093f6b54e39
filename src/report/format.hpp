#pragma once

#include <optional>
#include <string>

#include "store/decision.hpp"

namespace whet {

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
/// "1:05", "2:01:09".
std::string format_duration(double seconds);
/// `text` with `|` and line ends escaped for a cell of a Markdown table.
std::string markdown_cell(const std::string& text);
/// `text` quoted for a CSV field where it has to be. Source: RFC 4180.
std::string csv_field(const std::string& text);

}  // namespace whet
