#pragma once

#include <string>
#include <vector>

#include "evaluation/timeline.hpp"
#include "report/timeline_slices.hpp"

namespace whet {

/// Throws UserError for a file of `--timeline` that could not be written: its extension is neither
/// .json nor .svg, or its folder does not let us.
void check_timeline_files(const std::vector<std::string>& files);

/// Writes each file in the format of its extension.
void write_timeline_files(
    const std::vector<std::string>& files, const Timeline& timeline, const TimelineTitle& title
);

}  // namespace whet
