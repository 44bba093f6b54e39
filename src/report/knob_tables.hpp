#pragma once

#include <string>
#include <vector>

#include "report/knob_report.hpp"

namespace whet {

/// A table a workload for a terminal: a line a value, and what the default costs.
std::string knobs_text(const std::vector<KnobReport>& reports);
/// The same as a page.
std::string knobs_markdown(const std::vector<KnobReport>& reports);
/// A row a value: workload, key, target, device, knob, value, whether it is the default, number of
/// Ok candidates, best time, cost of the default. Empty cells where there are too few candidates.
std::string knobs_csv(const std::vector<KnobReport>& reports);

}  // namespace whet
