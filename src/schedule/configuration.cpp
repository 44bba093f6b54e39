#include "schedule/configuration.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/sha256.hpp"

namespace whet {

std::string to_text(const Configuration& configuration) {
  std::string text;
  for (const auto& [name, value] : configuration.values) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

Configuration parse_configuration(std::string_view text) {
  Configuration configuration;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" ,\t\n"), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size()) {
      throw UserError(fmt::format("configuration: expected name=value, found \"{}\"", pair));
    }
    const auto [position, added] = configuration.values.emplace(
        std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1))
    );
    if (!added) {
      throw UserError(fmt::format("configuration: knob {} is given twice", position->first));
    }
  }
  return configuration;
}

std::int64_t steps_per_launch(const Configuration& configuration) {
  const auto found = configuration.values.find("steps_per_launch");
  return found == configuration.values.end() ? 1 : std::stoll(found->second);
}

std::string short_id(const Configuration& configuration) {
  return sha256_hex(to_text(configuration)).substr(0, 12);
}

}  // namespace whet
