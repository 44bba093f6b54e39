#include "evaluation/evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "support/record_samples.hpp"

namespace whet {
namespace {

TEST(Evaluation, SurvivesItsCodec) {
  Evaluation refused;
  refused.status = Status::ConstraintViolated;
  refused.detail = "shared";
  for (const Evaluation& evaluation : {refused, records::evaluation(32, 2100.0)}) {
    const std::string text = to_json(evaluation).dump();
    EXPECT_EQ(evaluation_from_json(Json::parse(text)), evaluation);
  }
}

TEST(Evaluation, ReadsRecordsThatNameNoPaths) {
  Json old = to_json(records::evaluation(32, 2100.0));
  old.erase("paths");
  EXPECT_TRUE(evaluation_from_json(old).paths.empty());
}

TEST(Evaluation, CarriesNormsThatAreNotFinite) {
  Evaluation evaluation = records::evaluation(32, 2100.0);
  evaluation.worst->error = std::numeric_limits<double>::quiet_NaN();
  evaluation.worst->limit = -std::numeric_limits<double>::infinity();
  const Evaluation decoded = evaluation_from_json(Json::parse(to_json(evaluation).dump()));
  EXPECT_TRUE(std::isnan(decoded.worst->error));
  EXPECT_EQ(decoded.worst->limit, evaluation.worst->limit);
}

TEST(Evaluation, RefusesWhatIsNoEvaluation) {
  const Json good = to_json(records::evaluation(32, 2100.0));
  const auto refuses = [&](const std::function<void(Json&)>& alter) {
    Json bad = good;
    alter(bad);
    EXPECT_THROW(evaluation_from_json(bad), UserError) << bad.dump();
  };
  refuses([](Json& json) { json.erase("detail"); });
  refuses([](Json& json) { json["status"] = "Fine"; });
  refuses([](Json& json) { json["configuration"] = Json::array(); });
  refuses([](Json& json) { json["worst"]["error"] = "small"; });
  refuses([](Json& json) { json["blocks"][0]["samples"][0] = Json::array({1.0, 2.0}); });
  refuses([](Json& json) { json["blocks"][0]["samples"][0][0] = "fast"; });
  refuses([](Json& json) { json["blocks"] = 3; });
}

TEST(MedianTime, CountsOnlyBlocksOfThePurpose) {
  Evaluation evaluation = records::evaluation(32, 2100.0);
  evaluation.blocks[1].purpose = "final";
  EXPECT_EQ(median_time_ns(evaluation, "screen"), 2102.0);
  EXPECT_EQ(median_time_ns(evaluation, "final"), 2103.0);
  EXPECT_EQ(median_time_ns(evaluation), 2102.5);
  EXPECT_EQ(median_time_ns(evaluation, "publish"), std::nullopt);
}

TEST(Status, HasANameThatParses) {
  EXPECT_EQ(status_name(Status::BarrierHang), "BarrierHang");
  EXPECT_EQ(parse_status("OutOfMemory"), Status::OutOfMemory);
  EXPECT_EQ(parse_status("Slow"), std::nullopt);
}

}  // namespace
}  // namespace whet
