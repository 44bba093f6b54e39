#include "base/error.hpp"

namespace whet {

void check_failed(const char* file, int line, const char* condition, const std::string& detail) {
  throw InternalError(fmt::format(
      "internal error at {}:{}: expected {}; {}. Please report this with the command that led "
      "here.",
      file,
      line,
      condition,
      detail
  ));
}

}  // namespace whet
