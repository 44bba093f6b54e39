#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace whet {

/// `path` extended by a member, as in `$.dims` or `$.updates["grad:w1"]`.
std::string member_path(const std::string& path, const std::string& key);
/// `path` extended by an element, as in `$.inputs[2]`.
std::string element_path(const std::string& path, std::size_t index);

/// What JsonCursor::parse_text promises; `name` stands for the file in messages.
Json parse_json(std::string_view text, const std::string& name);

}  // namespace whet
