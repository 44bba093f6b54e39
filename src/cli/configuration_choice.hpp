#pragma once

#include <string>
#include <string_view>

#include "schedule/search_space.hpp"

namespace whet {

/// The configuration that `text` ("knob=value …") and the space's defaults give. Throws UserError
/// naming `flag` for a knob or value that the space does not have, suggesting the nearest knob.
Configuration choose_configuration(
    const std::string& text, const SearchSpace& space, std::string_view flag = "--set"
);

}  // namespace whet
