#pragma once

#include <string_view>

/// The files of src/report that a page holds as they are.
namespace whet::embedded {

extern const std::string_view page_style;   ///< page.css
extern const std::string_view page_method;  ///< page_method.html

}  // namespace whet::embedded
