#include "store/decision.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/record_samples.hpp"

namespace whet {
namespace {

TEST(Decision, SurvivesItsCodec) {
  Decision delegate = records::decision(32);
  delegate.verdict = Verdict::Delegate;
  delegate.delegate_to = "libtorch-eager";
  delegate.time_ns.reset();
  for (const Decision& decision : {Decision{}, records::decision(32), delegate}) {
    EXPECT_EQ(decision_from_json(to_json(decision)), decision);
  }
}

TEST(Decision, NamesAWrongField) {
  Json json = to_json(records::decision(32));
  json["winner"]["time_ns"]["low"] = "fast";
  try {
    decision_from_json(json);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("field low"), std::string::npos) << error.what();
  }
}

TEST(Decision, RefusesAnUnknownVerdict) {
  Json json = to_json(Decision{});
  json["verdict"] = "Maybe";
  EXPECT_THROW(decision_from_json(json), UserError);
}

TEST(Verdict, HasANameThatParses) {
  for (const Verdict verdict :
       {Verdict::Use, Verdict::KeepBaseline, Verdict::Delegate, Verdict::NoValid}) {
    EXPECT_EQ(parse_verdict(verdict_name(verdict)), verdict);
  }
  EXPECT_EQ(parse_verdict("use"), std::nullopt);
}

}  // namespace
}  // namespace whet
