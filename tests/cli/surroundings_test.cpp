// What is around the program may be odd: folders, variables, a parent that is gone.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/json.hpp"
#include "cli/whet_program.hpp"
#include "harness/process_tree.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kTuning{15};

class Surroundings : public testing::Test {
 protected:
  /// Tuning needs the reference.
  static bool can_tune() { return fs::exists(WHET_BIN_DIR "/whet-reference"); }

  /// `tune` of a small workload.
  static std::vector<std::string> tune(const std::string& budget) {
    return {
        "tune",
        WhetProgram::workload("tiny_online.json"),
        "--target",
        "cpu",
        "--budget",
        budget,
        "--json"};
  }

  static void set(ProcessOptions& options, const std::string& name, const std::string& value) {
    std::erase_if(options.set_environment, [&](const auto& entry) { return entry.first == name; });
    options.set_environment.emplace_back(name, value);
  }

  static void unset(ProcessOptions& options, const std::string& name) {
    std::erase_if(options.set_environment, [&](const auto& entry) { return entry.first == name; });
    options.unset_environment.push_back(name);
  }

  const WhetProgram whet_;
};

TEST_F(Surroundings, FoldersMayHaveAnyName) {
  if (!can_tune()) {
    GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
  }
  const fs::path odd = fs::path(whet_.home()) / "a b%?#" / "M\u00fcller \u6d4b\u8bd5'$(touch x)\"";
  fs::create_directories(odd / "bin");
  fs::copy_file(WHET_BIN_DIR "/whet", odd / "bin/whet");
  for (const char* program : {"whet-compile", "whet-worker", "whet-reference"}) {
    fs::create_symlink(fs::path(WHET_BIN_DIR) / program, odd / "bin" / program);
  }
  fs::copy(WHET_SOURCE_DIR "/configs", odd / "configs", fs::copy_options::recursive);
  fs::copy_file(WhetProgram::workload("tiny_online.json"), odd / "it's.json");
  ProcessOptions options = whet_.process_options(
      {"tune", (odd / "it's.json").string(), "--target", "cpu", "--budget", "2", "--json"}
  );
  options.arguments[0] = (odd / "bin/whet").string();
  set(options, "XDG_DATA_HOME", (odd / "data").string());
  set(options, "XDG_CACHE_HOME", (odd / "cache").string());
  options.working_folder = odd.string();

  const ProcessResult result = run_process(options, kTuning);

  EXPECT_EQ(result.exit.code, 0) << result.error_output;
  EXPECT_TRUE(fs::exists(odd / "data/whet/records.db"));
  EXPECT_FALSE(fs::exists(odd / "x"));
}

TEST_F(Surroundings, WithoutAHomeWhatNeedsNoneWorksAndTheRestSaysWhatToSet) {
  ProcessOptions options = whet_.process_options({"show", WhetProgram::workload("online.json")});
  for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"}) {
    unset(options, name);
  }
  EXPECT_EQ(run_process(options, WhetProgram::kShort).exit.code, 0);

  options.arguments = {WHET_BIN_DIR "/whet", "best", WhetProgram::workload("online.json")};
  const ProcessResult best = run_process(options, WhetProgram::kShort);
  EXPECT_EQ(best.exit.code, 3) << best.output;
  EXPECT_TRUE(says(best.error_output, "WHET_DB"));

  options.arguments = {WHET_BIN_DIR "/whet"};
  for (const std::string& argument : tune("1")) {
    options.arguments.push_back(argument);
  }
  set(options, "WHET_DB", whet_.home() + "/records.db");
  std::erase(options.unset_environment, "WHET_DB");
  const ProcessResult tuned = run_process(options, WhetProgram::kShort);
  EXPECT_EQ(tuned.exit.code, 3) << tuned.output;
  EXPECT_TRUE(says(tuned.error_output, "XDG_CACHE_HOME"));
}

TEST_F(Surroundings, AnyVisibleDevicesLeaveTheCpuTargetAlone) {
  for (const char* value :
       {"", "-1", "7", " 1", "0,0", "GPU-12", "MIG-12345678-1234-1234-1234-123456789abc"}) {
    ProcessOptions options =
        whet_.process_options({"show", WhetProgram::workload("online.json"), "--schedule"});
    set(options, "CUDA_VISIBLE_DEVICES", value);
    EXPECT_EQ(run_process(options, WhetProgram::kShort).exit.code, 0) << '\'' << value << '\'';
  }
}

TEST_F(Surroundings, ALocaleWithADecimalCommaChangesNoByteOfAKernel) {
  std::vector<std::string> sources;
  for (const char* locale : {"C", "de_DE.UTF-8"}) {
    ProcessOptions options = whet_.process_options(
        {"show", WhetProgram::workload("online.json"), "--source", "--device", "h200"}
    );
    set(options, "LC_ALL", locale);
    const ProcessResult result = run_process(options, WhetProgram::kShort);
    EXPECT_EQ(result.exit.code, 0) << result.error_output;
    sources.push_back(result.output);
  }
  EXPECT_EQ(sources[0], sources[1]);
}

/// Processes below this one, but for those that ended.
std::size_t num_descendants() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return descendants_of(::getpid()).size();
}

TEST_F(Surroundings, AKilledParentLeavesNoProcessAndNoEvaluationIsLost) {
  if (!can_tune()) {
    GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
  }
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // orphans come here
  const auto deadline = std::chrono::steady_clock::now() + kTuning;
  {
    Subprocess child(whet_.process_options(tune("500")));
    while (child.stderr_tail().find("best") == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      ASSERT_FALSE(child.wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(20)))
          << child.stderr_tail();
    }
    ::kill(child.pid(), SIGKILL);
    child.wait(deadline);
  }
  for (int tries = 0; num_descendants() > 0; ++tries) {
    ASSERT_LT(tries, 200) << "a process is left after 2 s";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const Json check = Json::parse(whet_.run({"db", "check", "--json"}).output);
  EXPECT_GE(check["evaluations"].get<int>(), 1);
  EXPECT_EQ(check["problems"].size(), 0U);
}

}  // namespace
}  // namespace whet
