#pragma once

#include <string>

#include "evaluation/timeline.hpp"
#include "report/timeline_slices.hpp"

namespace whet {

/// A timeline in the JSON that Perfetto and chrome://tracing open: a row a block.
/// Source: "Trace Event Format", docs/formats/timeline.md.
std::string to_trace(const Timeline& timeline, const TimelineTitle& title);

}  // namespace whet
