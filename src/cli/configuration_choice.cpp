#include "cli/configuration_choice.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/suggestion.hpp"

namespace whet {

Configuration choose_configuration(
    const std::string& text, const SearchSpace& space, std::string_view flag
) {
  const Configuration given = parse_configuration(text);
  std::vector<std::string_view> names;
  for (const Knob& knob : space.knobs()) {
    names.push_back(knob.name);
  }
  for (const auto& [name, value] : given.values) {
    // "mm1/tile_m" is the knob tile_m of one task.
    const std::string knob = name.substr(name.rfind('/') + 1);
    if (std::ranges::find(names, knob) == names.end()) {
      throw UserError(fmt::format(
          "{}: expected a knob of this space, found '{}'{}; `whet show W --space` lists them",
          flag,
          name,
          suggestion(knob, names)
      ));
    }
  }
  Configuration complete = space.complete(given);
  if (const auto problem = space.why_not_member(complete)) {
    throw UserError(fmt::format("{}: {}", flag, *problem));
  }
  return complete;
}

}  // namespace whet
