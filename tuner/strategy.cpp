#include "tuner/strategy.hpp"

#include "base/error.hpp"

namespace whet {

void check_strategy(const std::string& name) {
  if (name != "exhaustive" && name != "model" && name != "random") {
    throw UserError(fmt::format(
        "strategy: expected \"exhaustive\", \"model\" or \"random\", found \"{}\"", name
    ));
  }
}

std::unique_ptr<Strategy> make_strategy(
    const std::string& name, const SearchSpace& space, std::uint64_t seed
) {
  check_strategy(name);
  WHET_CHECK(name != "model", "the model's strategy needs its sample");
  return name == "random" ? make_random(space, seed) : make_exhaustive(space, seed);
}

}  // namespace whet
