#pragma once

#include <string>

#include "base/error.hpp"

namespace whet::testing {

/// `text` with every `from` replaced by `to`. Throws InternalError when there is none: a mutation
/// that changes nothing must not pass for one that was caught.
inline std::string edited(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) {
    throw InternalError("nothing to edit: no \"" + from + "\" in the kernel");
  }
  for (; at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace whet::testing
