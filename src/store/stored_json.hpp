#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_parse.hpp"

namespace whet {

/// JSON text for a row. Bytes that are not UTF-8, as in a compiler's message, are replaced.
std::string stored_text(const Json& json);

/// As stored_text with sorted keys, so that equal objects give equal text.
std::string canonical_text(const Json& json);

/// Throws EnvironmentError: `what`, a part of the store, is not as we wrote it.
[[noreturn]] void throw_damaged(const std::string& what, const std::string& how);

/// `decode` of the JSON text of `what`. Throws EnvironmentError when it does not fit.
template <typename Decode>
auto decode_stored(std::string_view text, const std::string& what, const Decode& decode) {
  try {
    return decode(parse_json(text, what));
  } catch (const UserError& error) {
    throw_damaged(what, error.what());
  }
}

}  // namespace whet
