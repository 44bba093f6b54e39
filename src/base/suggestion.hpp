#pragma once

#include <span>
#include <string>
#include <string_view>

namespace whet {

/// " (did you mean "x"?)" for the candidate that a typing error turns into `name`, or nothing. Of
/// equally close ones the first.
std::string suggestion(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace whet
