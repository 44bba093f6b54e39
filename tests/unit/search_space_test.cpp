#include "schedule/search_space.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.hpp"
#include "schedule/resolve.hpp"
#include "support/programs.hpp"

namespace whet {
namespace {

DeviceLimits h200() {
  return load_device_limits("h200", std::filesystem::path(WHET_SOURCE_DIR) / "configs/devices");
}

const Knob& find_knob(const SearchSpace& space, const std::string& name) {
  for (const Knob& knob : space.knobs()) {
    if (knob.name == name) {
      return knob;
    }
  }
  throw InternalError("no knob " + name);
}

TEST(SearchSpace, FirstSamplesTouchEveryValueOfTheStrata) {
  const SearchSpace space(testing::mlp(16, 64, 128, 16, DType::BF16), h200());
  std::map<std::string, std::set<std::string>> seen;
  for (std::uint64_t n = 0; n < 64; ++n) {
    for (const auto& [name, value] : space.sample(5, n).values) {
      seen[name].insert(value);
    }
  }
  for (const char* name :
       {"partition", "operands", "engine", "fuse_pointwise", "fuse_epilogue", "fuse_update"}) {
    EXPECT_EQ(seen[name].size(), find_knob(space, name).values.size()) << name;
  }
}

TEST(SearchSpace, HalfOfTheSamplesKeepTheDefaultStrata) {
  const SearchSpace space(testing::mlp(16, 64, 128, 16, DType::BF16), h200());
  const Configuration defaults = space.default_configuration();
  int num_default = 0;
  for (std::uint64_t n = 0; n < 100; ++n) {
    const Configuration point = space.sample(5, n);
    bool is_default = true;
    for (const char* name :
         {"fuse_pointwise", "fuse_epilogue", "fuse_update", "partition", "operands"}) {
      is_default = is_default && point.values.at(name) == defaults.values.at(name);
    }
    num_default += is_default ? 1 : 0;
  }
  EXPECT_GE(num_default, 50);
}

TEST(SearchSpace, ClusterHasAsManyBlocksAsClustersMayHave) {
  const SearchSpace space(testing::mlp(16, 64, 128, 16, DType::BF16), h200());
  const auto blocks = [&](const std::string& text) {
    const Configuration point = space.complete(parse_configuration(text));
    EXPECT_EQ(space.why_not_member(point), std::nullopt);
    EXPECT_EQ(point.values.at("weights"), "global");
    return point.values.at("blocks");
  };
  EXPECT_EQ(blocks("partition=cluster"), "16") << "the default of a step of some rows";
  EXPECT_EQ(blocks("partition=cluster blocks=264 weights=resident"), "8");
  EXPECT_EQ(blocks("partition=cluster blocks=16"), "16");

  const SearchSpace before(
      testing::mlp(16, 64, 128, 16, DType::BF16),
      load_device_limits("a100", std::filesystem::path(WHET_SOURCE_DIR) / "configs/devices")
  );
  EXPECT_EQ(
      before.why_not_member(before.complete(parse_configuration("partition=cluster"))),
      "knob partition is cluster, expected one of grid, block"
  );
}

TEST(Resolve, RefusesAClusterOfOneBlock) {
  const auto resolved = resolve(
      testing::mlp(16, 64, 128, 16, DType::BF16),
      parse_configuration("partition=cluster blocks=1"),
      h200()
  );
  const auto* const violation = std::get_if<ConstraintViolation>(&resolved);
  ASSERT_NE(violation, nullptr);
  EXPECT_EQ(violation->constraint, "cluster_blocks");
  EXPECT_EQ(violation->detail, "partition cluster needs blocks 2 to 16, found 1");
}

TEST(SearchSpace, SamplesLeaveOutWhatIsFarFromFast) {
  const SearchSpace space(testing::mlp(128, 512, 1024, 256, DType::BF16), h200());
  EXPECT_FALSE(find_knob(space, "blocks").unlikely.empty());
  for (std::uint64_t n = 0; n < 200; ++n) {
    const Configuration point = space.sample(5, n);
    EXPECT_EQ(point.values.at("partition"), "grid");
    EXPECT_GE(std::stoi(point.values.at("blocks")), 33);
    EXPECT_EQ(space.why_not_member(point), std::nullopt);
  }
  // Left out is not forbidden.
  const Configuration one_block = space.complete(parse_configuration("partition=block"));
  EXPECT_EQ(space.why_not_member(one_block), std::nullopt);
}

TEST(SearchSpace, TheSameSeedGivesTheSamePoints) {
  const SearchSpace space(testing::mlp(16, 64, 128, 16, DType::BF16), h200());
  EXPECT_EQ(space.sample(5, 17), space.sample(5, 17));
  EXPECT_NE(space.sample(5, 16), space.sample(6, 16));
}

}  // namespace
}  // namespace whet
