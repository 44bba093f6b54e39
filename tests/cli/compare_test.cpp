#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/json.hpp"
#include "cli/whet_program.hpp"

namespace whet {
namespace {

const std::string kWorkload = WhetProgram::workload("tiny_online.json");

TEST(Compare, TimesBothInTheSameProcesses) {
  if (!std::filesystem::exists(WHET_BIN_DIR "/whet-reference")) {
    GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
  }
  const WhetProgram whet;
  const ProcessResult result = whet.run(
      {"compare", kWorkload, "default", "tile_m=8", "--target", "cpu", "--json"},
      std::chrono::minutes(5)
  );
  const Json document = Json::parse(result.output);
  EXPECT_EQ(document["schema"], "whet.comparison/1");
  EXPECT_EQ(result.exit.code, document["verdict"] == "SLOWER" ? 1 : 0) << result.error_output;
  EXPECT_EQ(document["candidate"]["tile_m"], "8");
  const Json& base = document["base_blocks"];
  const Json& candidate = document["candidate_blocks"];
  ASSERT_EQ(base.size(), candidate.size());
  EXPECT_EQ(base.size(), 4U * document["num_processes"].get<unsigned>());
  EXPECT_EQ(base.back()["process"], candidate.back()["process"]);
  EXPECT_LE(document["ratio"]["low"], document["ratio"]["mean"]);
}

TEST(Compare, SaysWhatItExpectedOfAConfiguration) {
  const WhetProgram whet;
  const ProcessResult knob = whet.run({"compare", kWorkload, "default", "tile_q=8"});
  EXPECT_EQ(knob.exit.code, 2);
  EXPECT_TRUE(says(knob.error_output, "CANDIDATE"));
  EXPECT_TRUE(says(knob.error_output, "tile_q"));
  const ProcessResult stored = whet.run({"compare", kWorkload, "stored", "default"});
  EXPECT_EQ(stored.exit.code, 2);
  EXPECT_TRUE(says(stored.error_output, "`whet tune` makes one"));
  const ProcessResult target =
      whet.run({"compare", kWorkload, "default", "default", "--target", "cuda-emulated"});
  EXPECT_EQ(target.exit.code, 2);
  EXPECT_TRUE(says(target.error_output, "never timed"));
}

}  // namespace
}  // namespace whet
