#pragma once

#include <string>

#include "evaluation/timeline.hpp"
#include "report/timeline_slices.hpp"

namespace whet {

/// A timeline as a picture that needs nothing else: a row a block, a colour a phase, grey where it
/// waits, an axis of time and a legend.
std::string to_svg(const Timeline& timeline, const TimelineTitle& title);

}  // namespace whet
