#pragma once

#include <span>
#include <string>

#include "report/published_series.hpp"
#include "report/session_report.hpp"

namespace whet {

/// The published times side by side on one axis: a row a series with its interval, quartiles, and
/// the median of each process. `id` is the page's only one; there is at least one series.
std::string times_figure(const std::string& id, std::span<const PublishedSeries> all);

/// Every sample of a series on an axis of its own: a row a process, from top to bottom in the order
/// in which they were taken.
std::string samples_figure(const std::string& id, const PublishedSeries& series);

/// The screening medians in the order of the search, with the best so far. Nothing where no
/// candidate was timed.
std::string search_figure(const std::string& id, const SessionReport& report);

}  // namespace whet
