// scripts/scaling.py, with stand-ins for whet and the peers, and once with the built whet on the
// CPU.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/subprocess.hpp"
#include "cli/whet_program.hpp"

namespace whet {
namespace {

const std::string kFake = "python3 " WHET_SOURCE_DIR "/tests/cli/fake_blocks.py";

/// Runs of the script along the batch, on tiny layers, that write into a folder of their own.
class Scaling : public testing::Test {
 protected:
  ProcessResult run(const std::string& whet, const std::vector<std::string>& arguments) const {
    ProcessOptions options;
    options.arguments = {
        "python3",
        WHET_SOURCE_DIR "/scripts/scaling.py",
        "--target=cpu",
        "--axes=batch",
        "--base=2,16,1",
        "--candidates=2",
        "--peers=",
        "--rounds=2",
        "--whet",
        whet};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    options.set_environment = {
        {"PYTHONDONTWRITEBYTECODE", "1"}, {"XDG_CACHE_HOME", folder_.path() / "cache"}};
    options.working_folder = folder_.path().string();
    return run_process(options, std::chrono::seconds(400));
  }

  Json document() const {
    return Json::parse(read_file(folder_.path() / "results/cpu/scaling.json"));
  }
  std::string plot() const { return read_file(folder_.path() / "results/cpu/scaling_batch.svg"); }

 private:
  TemporaryFolder folder_{"whet-scaling-test-"};
};

// Ours takes 1000 ns at any batch, the peer 4000 ns over the batch: they meet at 4, half way
// between 2 and 8 on a logarithmic axis.
TEST_F(Scaling, MarksWhereThePeerOvertakes) {
  const ProcessResult result =
      run(kFake + " ours", {"--batches=1,2,8", "--peer", "fast=" + kFake + " peer 4000 per-batch"});

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  EXPECT_TRUE(says(result.output, "batch: Delegate from 4;"));
  EXPECT_TRUE(says(plot(), "Delegate from 4</text>"));
  EXPECT_TRUE(says(plot(), "ours: 1 at 8"));
  EXPECT_TRUE(says(plot(), "peers: 0.5 at 8"));
  const Json point = document()["points"][2];
  EXPECT_EQ(point["name"], "layers-b8-w16-d1");
  EXPECT_EQ(point["tune"]["verdict"], "Use");
  EXPECT_EQ(point["case"]["blocks"][0]["samples"].size(), 3U);
}

TEST_F(Scaling, MeasuresNoPointTwice) {
  ASSERT_EQ(run(kFake + " ours", {"--batches=1,2"}).exit.code, 0);
  const Json before = document();

  const ProcessResult same = run("false", {"--batches=1,2"});
  const ProcessResult more = run(kFake + " ours", {"--batches=1,2,4"});

  EXPECT_EQ(same.exit.code, 0) << same.error_output;
  EXPECT_EQ(more.exit.code, 0) << more.error_output;
  const Json after = document();
  ASSERT_EQ(after["points"].size(), 3U);
  EXPECT_EQ(after["points"][0], before["points"][0]);
  EXPECT_EQ(after["points"][1], before["points"][1]);
}

TEST_F(Scaling, StopsAtItsLimitAndSaysWhatIsLeft) {
  const ProcessResult result = run(kFake + " ours --slow-tuning", {"--batches=1,2", "--limit-s=1"});

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_TRUE(
      says(result.error_output, "no time was left for 2 of 2 points, from layers-b1-w16-d1 on")
  );
}

TEST_F(Scaling, GoesOnBehindAPointThatFailsAndSaysWhy) {
  const ProcessResult result = run("false", {"--batches=1,2"});

  EXPECT_EQ(result.exit.code, 1);
  EXPECT_TRUE(says(result.error_output, "layers-b1-w16-d1: whet tune ended with 1"));
  EXPECT_TRUE(says(result.error_output, "layers-b2-w16-d1: whet tune ended with 1"));
}

TEST_F(Scaling, RefusesToMixRunsOfOtherOptionsInAFile) {
  ASSERT_EQ(run(kFake + " ours", {"--batches=1"}).exit.code, 0);

  const ProcessResult result = run(kFake + " ours", {"--batches=1", "--candidates=3"});

  EXPECT_EQ(result.exit.code, 2);
  EXPECT_TRUE(says(result.error_output, "$.candidates: expected 3 to go on with it, found 2"));
}

TEST_F(Scaling, RefusesFlagsThatSayNothing) {
  const ProcessResult sizes = run(kFake + " ours", {"--batches=1,zero"});
  const ProcessResult axis = run(kFake + " ours", {"--axes=with"});

  EXPECT_EQ(sizes.exit.code, 2);
  EXPECT_TRUE(says(sizes.error_output, "--batches: expected sizes from 1 on"));
  EXPECT_EQ(axis.exit.code, 2);
  EXPECT_TRUE(says(axis.error_output, "did you mean \"width\"?"));
}

TEST_F(Scaling, TunesLayersOfAnyDepthOnTheCpu) {
  if (!std::filesystem::exists(WHET_BIN_DIR "/whet-reference")) {
    GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
  }
  const ProcessResult result =
      run(WHET_BIN_DIR "/whet", {"--axes=depth", "--depths=1,3", "--candidates=1"});

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  const Json points = document()["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1]["name"], "layers-b2-w16-d3");
  EXPECT_EQ(points[1]["tune"]["counts"]["Ok"], 1);
  EXPECT_GT(points[1]["case"]["subjects"][0]["summary"]["median_ns"].get<double>(), 0.0);
}

}  // namespace
}  // namespace whet
