#include "tuner/aa_test.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "support/fake_evaluator.hpp"

namespace whet {
namespace {

const Configuration kCopied{{{"tile_m", "16"}}};

TEST(AaTest, FindsNoWinnerAmongCopies) {
  FakeEvaluator evaluator;
  const AaTest test = run_aa_test(evaluator, kCopied, 50, {});

  EXPECT_FALSE(test.choice.selection.leaves_baseline);
  EXPECT_EQ(test.num_false_wins, 0);
  EXPECT_EQ(test.screening_ns.size(), 51U);
  EXPECT_EQ(test.finalists.entries.size(), 6U);
}

TEST(AaTest, MeasuresAllProcessesThoughTheChoiceSettlesEarly) {
  FakeEvaluator evaluator;
  const AaTest test = run_aa_test(evaluator, kCopied, 8, {});

  EXPECT_EQ(test.choice.selection.num_processes, looks().front().num_processes);
  EXPECT_EQ(test.noise.num_processes, looks().back().num_processes);
}

/// Copies by their place: the third is always faster, as if places were not alike.
class UnevenEvaluator final : public FakeEvaluator {
 public:
  InterleavedResult measure_interleaved(const InterleavedRequest& request) override {
    InterleavedResult result = FakeEvaluator::measure_interleaved(request);
    if (result.candidates.size() > 2) {
      for (SampleBlock& block : result.candidates[2].blocks) {
        for (Sample& sample : block.samples) {
          sample.time_ns *= 0.9;
        }
      }
    }
    return result;
  }
};

TEST(AaTest, SaysSoWhenOneCopyIsFaster) {
  UnevenEvaluator evaluator;
  const AaTest test = run_aa_test(evaluator, kCopied, 8, {});

  EXPECT_TRUE(test.choice.selection.leaves_baseline);
  EXPECT_EQ(test.num_false_wins, 5);
}

class FailingEvaluator final : public FakeEvaluator {
 public:
  InterleavedResult measure_interleaved(const InterleavedRequest& request) override {
    InterleavedResult result = FakeEvaluator::measure_interleaved(request);
    result.candidates.back().status = Status::Crashed;
    result.candidates.back().detail = "signal 9";
    return result;
  }
};

TEST(AaTest, EndsWhenACopyFails) {
  FailingEvaluator evaluator;
  try {
    run_aa_test(evaluator, kCopied, 8, {});
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("Crashed: signal 9"), std::string::npos);
  }
}

}  // namespace
}  // namespace whet
