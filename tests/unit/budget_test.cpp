#include "tuner/budget.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace whet {
namespace {

using std::chrono::seconds;

TEST(Budget, ReadsACount) { EXPECT_EQ(parse_budget("200").num_evaluations, 200); }

TEST(Budget, ReadsATime) {
  EXPECT_EQ(parse_budget("90s").time, seconds(90));
  EXPECT_EQ(parse_budget("5m").time, seconds(300));
  EXPECT_EQ(parse_budget("2h").time, seconds(7200));
}

TEST(Budget, RefusesWhatIsNeither) {
  for (const std::string text :
       {"",
        "0",
        "-5",
        "5 m",
        "m",
        "1.5h",
        "5min",
        "0s",
        "99999999999999999999",
        "9999999h",
        " 5"}) {
    EXPECT_THROW(parse_budget(text), UserError) << "\"" << text << "\"";
  }
}

TEST(Budget, SaysWhatItExpectedAndFound) {
  try {
    parse_budget("soon");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "budget: expected a number of candidates such as 200, or a time such as 90s, 5m or 2h, "
        "found \"soon\""
    );
  }
}

TEST(Budget, PrintsWhatItReads) {
  for (const std::string text : {"200", "90s", "5m", "2h"}) {
    EXPECT_EQ(to_text(parse_budget(text)), text);
  }
}

TEST(Budget, IsExhaustedByCount) {
  const Budget budget = parse_budget("3");
  EXPECT_FALSE(is_exhausted(budget, {.num_evaluations = 2}));
  EXPECT_TRUE(is_exhausted(budget, {.num_evaluations = 3}));
}

TEST(Budget, IsExhaustedByTime) {
  const Budget budget = parse_budget("10s");
  EXPECT_FALSE(is_exhausted(budget, {.num_evaluations = 1'000, .time = seconds(9)}));
  EXPECT_TRUE(is_exhausted(budget, {.num_evaluations = 0, .time = seconds(10)}));
}

TEST(Budget, KnowsThePartThatIsSpent) {
  EXPECT_EQ(fraction_spent(parse_budget("4"), {.num_evaluations = 1}), 0.25);
  EXPECT_EQ(fraction_spent(parse_budget("10s"), {.time = seconds(5)}), 0.5);
  EXPECT_EQ(fraction_spent(parse_budget("4"), {.num_evaluations = 9}), 1.0);
}

}  // namespace
}  // namespace whet
