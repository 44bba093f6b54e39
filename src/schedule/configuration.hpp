#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whet {

/// One value for each knob of a schedule, by the knob's full name: a global name such as "tile_m",
/// or a child's such as "mm1.fwd/tile_m", whose default is the global value. Values are the
/// spelling of configs: integers in decimal, choices by name. Ordered, so equal configurations
/// print equally.
struct Configuration {
  std::map<std::string, std::string> values;

  bool operator==(const Configuration&) const = default;
  auto operator<=>(const Configuration&) const = default;
};

/// "blocks=8 engine=mma tile_m=32 …": canonical, and what parse_configuration reads.
std::string to_text(const Configuration& configuration);
/// Throws UserError for text that is not "name=value" pairs or names a knob twice.
Configuration parse_configuration(std::string_view text);
/// The knob of this name; 1 for a configuration without.
std::int64_t steps_per_launch(const Configuration& configuration);
/// 12 hexadecimal digits of the text's SHA-256: the short name of a candidate.
std::string short_id(const Configuration& configuration);

}  // namespace whet
