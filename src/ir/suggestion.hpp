#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whet {

/// " (did you mean "x"?)" for the candidate that a typing error turns into `name`, or nothing.
std::string suggestion(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace whet
