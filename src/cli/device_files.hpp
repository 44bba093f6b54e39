#pragma once

#include <filesystem>

#include "cli/environment.hpp"
#include "schedule/device_limits.hpp"

namespace whet {

/// Where `whet doctor` keeps what it measures of devices of this class, beside the records: `kind`
/// is "costs" or "noise". Empty if there is no such folder.
std::filesystem::path device_file(
    const std::string& kind, const DeviceLimits& limits, const Environment& environment
);

}  // namespace whet
