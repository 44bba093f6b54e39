#pragma once

#include <string_view>

namespace whet::embedded {

/// src/report/page.css.
extern const std::string_view page_style;

}  // namespace whet::embedded
