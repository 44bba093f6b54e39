#include "harness/tolerances.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/files.hpp"

namespace whet {
namespace {

class TolerancesFile : public testing::Test {
 protected:
  std::string error_of(const std::string& text) const {
    write_file_atomically(path_, text);
    try {
      Tolerances::load(path_);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_{"whet-tolerances-test-"};
  std::filesystem::path path_ = folder_.path() / "tolerances.json";
};

TEST_F(TolerancesFile, ShippedOneIsReadAndHasFloorsForEachDType) {
  const Tolerances tolerances =
      Tolerances::load(std::filesystem::path(WHET_SOURCE_DIR) / "configs" / "tolerances.json");

  EXPECT_EQ(tolerances.floors.size(), 3U);
  EXPECT_EQ(tolerances.floors.at(DType::BF16).change.step1, 1e-3);
  EXPECT_GT(tolerances.factor, 1.0);
}

TEST_F(TolerancesFile, RefusesUnknownDTypesKeysAndSigns) {
  const std::string floor = R"({"step1": 1, "replay": 1, "trajectory": 1})";
  const std::string negative = R"({"step1": -1, "replay": 1, "trajectory": 1})";
  const auto file = [](const std::string& dtype, const std::string& change, const std::string& rest
                    ) {
    return R"({"schema": "whet.tolerances/1", "factor": 4, "floors": {")" + dtype +
           R"(": {"change": )" + change + rest + "}}}";
  };
  const std::string rest =
      ", \"output\": " + floor + ", \"element\": " + floor + ", \"loss\": " + floor;

  EXPECT_EQ(error_of(file("f32", floor, rest)), "");
  EXPECT_NE(error_of(file("i64", floor, rest)), "");
  EXPECT_NE(error_of(file("f32", negative, rest)), "");
  EXPECT_NE(error_of(file("f32", floor, "")), "");
  EXPECT_NE(error_of(R"({"schema": "whet.tolerances/2", "factor": 4, "floors": {}})"), "");
}

TEST(TolerancesKey, DependsOnEachNumber) {
  Tolerances tolerances;
  tolerances.floors[DType::F16].loss.trajectory = 1e-4;
  Tolerances other = tolerances;
  EXPECT_EQ(tolerances_key(tolerances), tolerances_key(other));

  other.floors[DType::F16].loss.trajectory = 2e-4;
  EXPECT_NE(tolerances_key(tolerances), tolerances_key(other));
}

TEST(LowestPrecision, IsTheCoarsestThatAValueHas) {
  Program program;
  program.values = {
      {.name = "a", .shape = {}, .strides = {}, .dtype = DType::F32},
      {.name = "b", .shape = {}, .strides = {}, .dtype = DType::F16}};
  EXPECT_EQ(lowest_precision(program), DType::F16);
  program.values.push_back({.name = "c", .shape = {}, .strides = {}, .dtype = DType::BF16});
  EXPECT_EQ(lowest_precision(program), DType::BF16);
}

}  // namespace
}  // namespace whet
