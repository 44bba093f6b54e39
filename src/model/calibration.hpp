#pragma once

#include <string>

#include "base/json.hpp"
#include "model/device_costs.hpp"

namespace whet {

/// The costs that a `whet.calibration/1` document shows: medians, of which what the two amounts of
/// work of a series share is subtracted. The document is kept in `samples`. Throws UserError naming
/// what is missing or makes no sense, a clock that was not read for one.
DeviceCosts costs_from_samples(const JsonCursor& document, const std::string& device_name);

}  // namespace whet
