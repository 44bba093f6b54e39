#include "tuner/strategy.hpp"

#include "base/error.hpp"

namespace whet {

std::unique_ptr<Strategy> make_strategy(
    const std::string& name, const SearchSpace& space, std::uint64_t seed
) {
  if (name == "exhaustive") {
    return make_exhaustive(space, seed);
  }
  if (name == "random") {
    return make_random(space, seed);
  }
  throw UserError(fmt::format("strategy: expected \"exhaustive\" or \"random\", found \"{}\"", name)
  );
}

}  // namespace whet
