#include "cli/device_files.hpp"

#include <algorithm>
#include <cctype>

namespace whet {

std::filesystem::path device_file(
    const std::string& kind, const DeviceLimits& limits, const Environment& environment
) {
  if (environment.database.empty()) {
    return {};
  }
  std::string file = device_class(limits);
  std::ranges::replace_if(
      file, [](unsigned char c) { return std::isalnum(c) == 0; }, '_'
  );
  return environment.database.parent_path() / kind / (file + ".json");
}

}  // namespace whet
