// `whet-bench`: what it writes, and what it says of arguments that it does not know.

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/subprocess.hpp"

namespace whet {
namespace {

ProcessResult bench(const std::vector<std::string>& arguments) {
  ProcessOptions options;
  options.arguments = {WHET_BIN_DIR "/whet-bench"};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  return run_process(options, std::chrono::minutes(2));
}

TEST(Bench, WritesWhatCompareScriptsRead) {
  const ProcessResult result = bench(
      {"--benchmark_filter=^(resolve|find_hazards|lower)/online/|^step/online/cpu",
       "--benchmark_min_time=0.01",
       "--benchmark_format=json"}
  );

  ASSERT_EQ(result.exit.code, 0) << result.error_output;
  const Json document = Json::parse(result.output);
  std::set<std::string> names;
  for (const Json& run : document["benchmarks"]) {
    names.insert(run["name"]);
    EXPECT_GT(run["real_time"].get<double>(), 0.0) << run["name"];
    EXPECT_EQ(run["run_type"], "iteration");
  }
  for (const char* name :
       {"resolve/online/cpu",
        "resolve/online/cuda",
        "find_hazards/online/cuda",
        "lower/online/cuda",
        "step/online/cpu/iterations:50/manual_time"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Bench, NamesAnArgumentThatItDoesNotKnow) {
  const ProcessResult flag = bench({"--bogus"});
  EXPECT_EQ(flag.exit.code, 2);
  EXPECT_NE(flag.error_output.find("--bogus"), std::string::npos) << flag.error_output;

  const ProcessResult suite = bench({"nowhere.json"});
  EXPECT_EQ(suite.exit.code, 2);
  EXPECT_NE(suite.error_output.find("nowhere.json"), std::string::npos) << suite.error_output;
}

}  // namespace
}  // namespace whet
