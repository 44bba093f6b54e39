#include "store/stored_json.hpp"

namespace whet {
namespace {

template <typename AnyJson>
std::string dump(const AnyJson& json) {
  return json.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

}  // namespace

std::string stored_text(const Json& json) { return dump(json); }

std::string canonical_text(const Json& json) { return dump(nlohmann::json(json)); }

void throw_damaged(const std::string& what, const std::string& how) {
  throw EnvironmentError(
      fmt::format("{} is damaged: {}. Run `whet db check` to see all that is", what, how)
  );
}

}  // namespace whet
