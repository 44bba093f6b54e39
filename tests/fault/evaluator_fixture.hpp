#pragma once

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "base/files.hpp"
#include "harness/evaluator.hpp"
#include "harness/process_tree.hpp"
#include "support/test_cache.hpp"

namespace whet {

/// Waits until `holds`, at most for the time that a loaded machine may take.
template <typename Condition>
bool eventually(Condition holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

/// An evaluator with real child programs on the CPU target, for a small `online`. When the test is
/// over no process may be left: orphans become this process's children, so that none can escape.
class EvaluatorFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(WHET_BIN_DIR "/whet-reference")) {
      GTEST_SKIP() << "whet-reference is not built: WHET_TORCH is off";
    }
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
      throw_errno("cannot adopt orphans");
    }
    options_ = make_evaluator_options(WHET_BIN_DIR, host_limits(0));
    options_.workload = {
        .text = read_file(WHET_SOURCE_DIR "/workloads/online.json"),
        .name = "online.json",
        .dims = {{"batch", 4}, {"in", 16}, {"hidden", 24}, {"out", 5}}};
    options_.tolerances = WHET_SOURCE_DIR "/configs/tolerances.json";
    options_.cache_folder = testing::test_cache();
    options_.compile.cache_folder = testing::test_cache();
    options_.num_screen_blocks = 1;
    options_.block = {.num_samples = 3, .min_sample_ns = 0.0, .max_block_ns = 1e8, .steady = {}};
  }

  void TearDown() override {
    evaluator_.reset();
    expect_no_process_left();
  }

  Evaluator& start() {
    evaluator_ = std::make_unique<Evaluator>(options_);
    evaluator_->prepare();
    return *evaluator_;
  }

  /// The evaluator still tells right from wrong, and times what is right.
  void expect_goes_on() {
    const Evaluation good = evaluate(*evaluator_, parse_configuration("tile_m=16"));
    EXPECT_EQ(good.status, Status::Ok) << good.detail;
    EXPECT_TRUE(good.deterministic);
    ASSERT_TRUE(good.worst.has_value());
    EXPECT_LE(good.worst->error, good.worst->limit);
    ASSERT_EQ(good.blocks.size(), 1U);
    EXPECT_GT(median_time_ns(good).value_or(0.0), 0.0);
  }

  static void expect_says(const std::string& text, const char* part) {
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, text);
  }

  static void expect_no_process_left() {
    std::string names;
    const bool gone = eventually([&names] {
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      names.clear();
      for (const pid_t pid : descendants_of(::getpid())) {
        names += fmt::format(" {}", pid);
      }
      return names.empty();
    });
    EXPECT_TRUE(gone) << "still there:" << names;
  }

  EvaluatorOptions options_;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace whet
