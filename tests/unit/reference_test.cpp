// The reference against our own derivatives, and as the program that the tuner starts.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/subprocess.hpp"
#include "harness/compute_bundle.hpp"
#include "harness/libtorch_arithmetic.hpp"
#include "harness/libtorch_walk.hpp"
#include "harness/validation.hpp"
#include "ir/workload.hpp"

namespace whet {
namespace {

std::filesystem::path workload_file(const std::string& name) {
  return std::filesystem::path(WHET_SOURCE_DIR) / "workloads" / name;
}

Tolerances shipped_tolerances() {
  return Tolerances::load(std::filesystem::path(WHET_SOURCE_DIR) / "configs" / "tolerances.json");
}

Workload short_workload(const std::string& name, int num_steps, const DimOverrides& dims = {}) {
  Workload workload = load_workload(workload_file(name), dims);
  workload.validation.num_steps = num_steps;
  workload.validation.num_replay_steps = std::min(num_steps, workload.validation.num_replay_steps);
  return workload;
}

// The forward part differentiated by LibTorch, and the whole step as whet differentiates it.
TEST(ReferenceBundle, OurDerivativesAgreeWithAutogradBitByBit) {
  for (const char* name : {"online.json", "mlp_f32.json", "head.json", "head_f32.json"}) {
    const Workload by_autograd = short_workload(name, 20);
    Workload by_us = by_autograd;
    by_us.forward.reset();

    const ReferenceBundle expected = compute_bundle(by_autograd, 101, 1);
    const ReferenceBundle got = compute_bundle(by_us, 101, 1);

    EXPECT_EQ(got.reference, expected.reference) << name;
    EXPECT_EQ(got.native, expected.native) << name;
  }
}

TEST(ReferenceBundle, OfEachShippedWorkloadHasPowerAndAcceptsTheOtherOrders) {
  const Tolerances tolerances = shipped_tolerances();
  for (const char* name : {"online.json", "mlp_f32.json", "head.json", "head_f32.json"}) {
    const Workload workload = short_workload(name, 40);
    const ReferenceBundle bundle = compute_bundle(workload, 211, 1);

    EXPECT_EQ(why_powerless(workload, bundle, tolerances), std::nullopt) << name;
    for (const Trajectory* other : {&bundle.native, &bundle.orders[0], &bundle.orders[1]}) {
      const ValidationResult result = compare(workload, bundle, *other, tolerances);
      EXPECT_TRUE(result.passed) << name << ": " << result.detail;
    }
  }
}

TEST(ReferenceBundle, OrdersAreOtherOrders) {
  const Workload workload = short_workload("mlp_f32.json", 1);
  const ReferenceBundle bundle = compute_bundle(workload, 101, 1);

  EXPECT_NE(bundle.orders[0], bundle.orders[1]);
  EXPECT_NE(bundle.orders[0], bundle.native);
  EXPECT_NE(bundle.orders[0], bundle.reference);
}

TEST(ReferenceBundle, RefusesAStepThatRoundsNothing) {
  const Workload workload = short_workload("online.json", 1);
  const ReferenceBundle bundle = compute_bundle(workload, 101, 1);
  StepInputs from;
  const auto widen = [](const HostTensor& tensor) { return to_libtorch(tensor).to(at::kDouble); };
  std::ranges::transform(bundle.inputs[0], std::back_inserter(from.inputs), widen);
  std::ranges::transform(bundle.scalars, std::back_inserter(from.scalars), widen);
  std::ranges::transform(bundle.initial_state, std::back_inserter(from.state), widen);

  const StepResults unrounded = run_step(workload, from, WalkDType::AllF64);

  Trajectory candidate = bundle.reference;
  candidate.losses = {unrounded.loss.value().item<double>()};
  for (std::size_t i = 0; i < unrounded.state.size(); ++i) {
    candidate.snapshots[0].state[i] = to_host(unrounded.state[i], DType::F32);
  }
  const ValidationResult result = compare(workload, bundle, candidate, shipped_tolerances());
  EXPECT_FALSE(result.passed);
  EXPECT_GT(result.worst->error, 5e-3) << "the floor of 1e-3 rests on this distance";
}

TEST(ReferenceBundle, OfAnEmptyBatchIsNaNLossAndNoChange) {
  const Workload workload = short_workload("online.json", 2, {{"batch", 0}});
  const ReferenceBundle bundle = compute_bundle(workload, 101, 1);

  EXPECT_TRUE(std::isnan(bundle.reference.losses[0]));
  EXPECT_EQ(bundle.reference.snapshots[1].state, bundle.initial_state);
  EXPECT_TRUE(compare(workload, bundle, bundle.native, shipped_tolerances()).passed);
}

TEST(ReferenceBundle, IsRefusedWhenTheLearningRateVanishes) {
  Workload workload = short_workload("online.json", 4);
  workload.scalar_values = {1e-12};
  const ReferenceBundle bundle = compute_bundle(workload, 101, 1);

  const std::string reason = why_powerless(workload, bundle, shipped_tolerances()).value_or("");
  EXPECT_NE(reason.find("lost to rounding"), std::string::npos) << reason;
}

class ReferenceProgram : public testing::Test {
 protected:
  static constexpr std::chrono::seconds kTimeout{100};

  ProcessResult run(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), std::string(WHET_BIN_DIR) + "/whet-reference");
    ProcessOptions options;
    options.arguments = std::move(arguments);
    return run_process(options, kTimeout, input);
  }

  TemporaryFolder folder_{"whet-reference-test-"};
  std::string workload_ = workload_file("online.json").string();
};

TEST_F(ReferenceProgram, WritesABundleWhoseLossFalls) {
  const std::filesystem::path out = folder_.path() / "b.safetensors";
  const ProcessResult result = run(
      {"bundle",
       "--workload",
       workload_,
       "--dim",
       "batch=8",
       "--seed",
       "307",
       "--out",
       out.string()}
  );
  ASSERT_EQ(result.exit.code, 0) << result.error_output;

  const Workload workload = load_workload(workload_, {{"batch", 8}});
  const ReferenceBundle bundle = read_bundle(out, workload);
  EXPECT_EQ(bundle.seed, 307U);
  EXPECT_EQ(bundle.libtorch_version, libtorch_version());
  EXPECT_NE(bundle.flags.find("tf32=off"), std::string::npos);
  const std::vector<double>& losses = bundle.reference.losses;
  ASSERT_EQ(losses.size(), 100U);
  EXPECT_LT(
      std::accumulate(losses.end() - 4, losses.end(), 0.0),
      std::accumulate(losses.begin(), losses.begin() + 4, 0.0)
  );
  for (const Trajectory* other : {&bundle.native, &bundle.orders[0], &bundle.orders[1]}) {
    const ValidationResult check = compare(workload, bundle, *other, shipped_tolerances());
    EXPECT_TRUE(check.passed) << check.detail;
  }
}

TEST_F(ReferenceProgram, PrintsASampleABlock) {
  const ProcessResult result =
      run({"time", "--workload", workload_, "--threads", "1", "--steps", "4", "--blocks", "3"});
  ASSERT_EQ(result.exit.code, 0) << result.error_output;

  const JsonCursor json = JsonCursor::parse_text(result.output, "output");
  EXPECT_EQ(json.at("name").as_string(), "libtorch-eager");
  EXPECT_EQ(json.at("libtorch").as_string(), libtorch_version());
  const std::vector<JsonCursor> samples = json.at("samples_ns").items();
  ASSERT_EQ(samples.size(), 3U);
  for (const JsonCursor& sample : samples) {
    EXPECT_GT(
        sample.as_number() * static_cast<double>(json.at("steps_per_sample").as_integer()), 0.0
    );
  }
}

TEST_F(ReferenceProgram, ServesBlocksUntilItsInputEnds) {
  const ProcessResult result =
      run({"time", "--workload", workload_, "--steps", "4", "--serve"},
          "libtorch-eager 8\nlibtorch-eager 6\n");
  ASSERT_EQ(result.exit.code, 0) << result.error_output;

  std::vector<JsonCursor> lines;
  std::size_t begin = 0;
  for (std::size_t end = result.output.find('\n'); end != std::string::npos;
       end = result.output.find('\n', begin)) {
    lines.push_back(JsonCursor::parse_text(result.output.substr(begin, end - begin), "output"));
    begin = end + 1;
  }
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].at("ready").as_bool());
  EXPECT_GT(lines[1].at("time_ns").as_number(), 0.0);
  EXPECT_EQ(lines[1].at("num_steps").as_integer(), 8);
  EXPECT_EQ(lines[2].at("num_steps").as_integer(), 8);  // whole repetitions of 4 steps
}

TEST_F(ReferenceProgram, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(run({"bundle", "--workload", "/no/such/file", "--out", "/tmp/x"}).exit.code, 2);
  EXPECT_EQ(run({"bundle", "--workload", workload_}).exit.code, 2);
  EXPECT_EQ(run({"time", "--workload", workload_, "--dim", "batch"}).exit.code, 2);
  EXPECT_EQ(run({"time", "--workload", workload_, "--captured"}).exit.code, 2);
  EXPECT_EQ(run({"time", "--workload", workload_, "--serve"}, "libtorch-graph 3\n").exit.code, 2);
}

TEST_F(ReferenceProgram, SaysWhyThereIsNoGpu) {
  if (std::filesystem::exists("/proc/driver/nvidia/version")) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  const ProcessResult result = run({"time", "--workload", workload_, "--device", "cuda"});
  EXPECT_EQ(result.exit.code, 3);
  EXPECT_NE(result.error_output.find("CUDA"), std::string::npos) << result.error_output;
}

}  // namespace
}  // namespace whet
