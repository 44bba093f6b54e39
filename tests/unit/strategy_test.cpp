#include "tuner/strategy.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "support/programs.hpp"

namespace whet {
namespace {

const Program& program() {
  static const Program mlp = testing::mlp(4, 16, 24, 5, DType::BF16);
  return mlp;
}

/// What a strategy proposes until it has nothing left or `limit` is reached.
std::vector<Configuration> proposals(
    const std::string& name, const SearchSpace& space, std::uint64_t seed, std::size_t limit
) {
  const auto strategy = make_strategy(name, space, seed);
  std::vector<Configuration> list;
  while (list.size() < limit) {
    const std::optional<Configuration> proposal = strategy->propose();
    if (!proposal) {
      break;
    }
    list.push_back(*proposal);
  }
  return list;
}

class AnyStrategy : public ::testing::TestWithParam<const char*> {
 protected:
  SearchSpace cpu_{program(), host_limits(2)};
  SearchSpace cuda_{program(), emulated_limits()};
};

TEST_P(AnyStrategy, ProposesNoConfigurationTwice) {
  for (const SearchSpace* space : {&cpu_, &cuda_}) {
    const std::vector<Configuration> list = proposals(GetParam(), *space, 3, 5'000);
    EXPECT_EQ(std::set<Configuration>(list.begin(), list.end()).size(), list.size());
    EXPECT_EQ(list.size(), 5'000U);
  }
}

TEST_P(AnyStrategy, ProposesMembersOfTheSpaceOnly) {
  for (const Configuration& configuration : proposals(GetParam(), cuda_, 3, 500)) {
    EXPECT_EQ(cuda_.why_not_member(configuration), std::nullopt) << to_text(configuration);
  }
}

TEST_P(AnyStrategy, TouchesEveryValueSoon) {
  std::map<std::string, std::set<std::string>> seen;
  for (const Configuration& configuration : proposals(GetParam(), cuda_, 3, 200)) {
    for (const auto& [knob, value] : configuration.values) {
      seen[knob].insert(value);
    }
  }
  for (const Knob& knob : cuda_.knobs()) {
    EXPECT_GE(seen[knob.name].size() + knob.unlikely.size(), knob.values.size()) << knob.name;
  }
}

TEST_P(AnyStrategy, RepeatsItselfForASeedOnly) {
  const std::vector<Configuration> list = proposals(GetParam(), cuda_, 3, 50);
  EXPECT_EQ(proposals(GetParam(), cuda_, 3, 50), list);
  EXPECT_NE(proposals(GetParam(), cuda_, 4, 50), list);
}

INSTANTIATE_TEST_SUITE_P(Strategies, AnyStrategy, ::testing::Values("exhaustive", "random"));

TEST(Exhaustive, ProposesEveryConfigurationOfASpace) {
  // Of one core: a space of some thousand points.
  const SearchSpace space(program(), host_limits(1));
  std::set<Configuration> all;
  for (std::uint64_t n = 0; static_cast<double>(n) < space.size_bound(); ++n) {
    all.insert(space.at(n));
  }
  const std::vector<Configuration> list = proposals("exhaustive", space, 11, SIZE_MAX);
  EXPECT_EQ(std::set<Configuration>(list.begin(), list.end()), all);
  EXPECT_EQ(list.size(), all.size());
}

TEST(MakeStrategy, NamesTheChoices) {
  const SearchSpace space(program(), host_limits(1));
  try {
    make_strategy("genetic", space, 0);
    FAIL() << "a strategy that does not exist";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "strategy: expected \"exhaustive\", \"model\" or \"random\", found \"genetic\""
    );
  }
}

}  // namespace
}  // namespace whet
