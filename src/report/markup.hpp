#pragma once

#include <string>
#include <string_view>

namespace whet {

/// `text` fit for the content and the quoted attributes of HTML and SVG. Control characters other
/// than line ends and tabs become spaces.
std::string escape_markup(std::string_view text);

}  // namespace whet
