// Kernels built as emitted text is, run through the Executor of the emulation.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/subprocess.hpp"
#include "jit/emulation_compile.hpp"
#include "jit/executor.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;
using Order = EmulationOptions::Order;

std::string read_text(const fs::path& file) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream.good()) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The device files, `kernel`, and its export.
std::string emulated_text(const std::string& kernel) {
  const fs::path device = fs::path(WHET_SOURCE_DIR) / "src/codegen/device";
  return read_text(device / "types.hpp") + read_text(device / "emulation/hooks.hpp") +
         read_text(device / "emulation/emulated.hpp") + read_text(device / "edge.cuh") +
         read_text(device / "start.cuh") + kernel +
         "extern \"C\" void whet_step_emulated(const EmulationHooks* hooks, const void* block) {\n"
         "  begin_emulation(hooks);\n"
         "  whet_step(*static_cast<const StepArguments*>(block));\n"
         "}\n";
}

/// A kernel over `num_tensors` tensors.
std::string kernel_of(int num_tensors, const std::string& body) {
  return "struct StepArguments { void* tensors[" + std::to_string(num_tensors) +
         "]; void* workspace; u32 ring_length, first_batch, spin_limit, refresh; };\n"
         "extern \"C\" __global__ void __launch_bounds__(64, 1)\n"
         "whet_step(const __grid_constant__ StepArguments arguments) {\n" +
         body + "}\n";
}

LaunchPlan grid_of(int blocks) {
  LaunchPlan plan;
  plan.target = Target::CudaEmulated;
  plan.blocks = blocks;
  plan.threads = 64;
  plan.cooperative = true;
  return plan;
}

class EmulatedExecutor : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "whet-emulated-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    kernel_.reset();
    fs::remove_all(folder_);
  }

  /// Compiles a kernel over `num_tensors` tensors and loads it.
  const LoadedKernel& load(
      int num_tensors,
      const std::string& body,
      const LaunchPlan& plan = grid_of(1),
      AccessChecks checks = AccessChecks::All
  ) {
    return load_kernel(kernel_of(num_tensors, body), num_tensors, plan, checks);
  }

  const LoadedKernel& load_kernel(
      const std::string& kernel, int num_tensors, LaunchPlan plan, AccessChecks checks
  ) {
    plan.arguments.resize(static_cast<std::size_t>(num_tensors));
    std::ofstream(folder_ / "kernel.cpp") << emulated_text(kernel);
    ProcessOptions process;
    process.arguments = {"c++", folder_ / "kernel.cpp", "-o", folder_ / "kernel.so"};
    for (const std::string& argument : emulation_compile_arguments(checks)) {
      process.arguments.push_back(argument);
    }
    const ProcessResult result = run_process(process, std::chrono::seconds(60));
    EXPECT_EQ(result.exit.code, 0) << result.error_output;
    kernel_ = executor_->load(folder_ / "kernel.so", plan);
    return *kernel_;
  }

  /// The detail of the fault that a launch ends in; "" if it ends well.
  std::string fault_of(const StepLaunch& launch) {
    try {
      executor_->launch(launch);
      executor_->synchronize();
    } catch (const DeviceFault& fault) {
      status_ = fault.status;
      return fault.what();
    }
    return "";
  }

  std::vector<float> download(const void* from, std::size_t count) {
    std::vector<float> values(count);
    executor_->download(values.data(), from, count * sizeof(float));
    return values;
  }

  std::unique_ptr<Executor> executor_ = make_emulated_executor({});
  std::unique_ptr<LoadedKernel> kernel_;
  fs::path folder_;
  Status status_ = Status::Ok;
};

TEST_F(EmulatedExecutor, RunsAKernelOnItsArguments) {
  const LoadedKernel& kernel = load(
      2,
      R"(
    const float* x = static_cast<const float*>(arguments.tensors[0]);
    float* y = static_cast<float*>(arguments.tensors[1]);
    const int i = block_index() * 64 + thread_index();
    y[i] = fma(2.0f, x[i], static_cast<float>(arguments.first_batch));
  )",
      grid_of(2)
  );
  std::vector<float> x(128);
  std::iota(x.begin(), x.end(), 0.0f);
  void* in = executor_->allocate(512);
  void* out = executor_->allocate(512);
  executor_->upload(in, x.data(), 512);

  executor_->launch({&kernel, {.tensors = {in, out}, .first_batch = 3}});

  const std::vector<float> y = download(out, 128);
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(y[i], 2.0f * x[i] + 3.0f);
  }
  executor_->release(in);
  executor_->release(out);
}

TEST_F(EmulatedExecutor, RunsEveryHelperInEveryOrderToTheSameWords) {
  LaunchPlan plan = grid_of(1);
  plan.dynamic_shared_bytes = 1280;
  const std::string kernel = read_text(fs::path(WHET_SOURCE_DIR) / "tests/unit/every_helper.cu");
  load_kernel(kernel, 3, plan, AccessChecks::All);
  std::vector<std::uint16_t> in(1024);
  std::vector<float> values(64);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = i % 3 == 0 ? 0x3f80 : i % 5 == 0 ? 0xbf80 : 0x4000;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.37f * static_cast<float>(i) - 9.1f;
  }
  std::vector<std::uint32_t> first;
  for (const Order order : {Order::Forward, Order::Reverse, Order::Random}) {
    executor_ = make_emulated_executor({.order = order, .seed = 1});
    StepArguments arguments = {
        .tensors = {executor_->allocate(2048), executor_->allocate(256), executor_->allocate(4096)},
        .workspace = executor_->allocate(256),
        .spin_limit = 100,
    };
    executor_->upload(arguments.tensors[0], in.data(), 2048);
    executor_->upload(arguments.tensors[1], values.data(), 256);
    executor_->fill(arguments.workspace, 0, 256);
    EXPECT_EQ(fault_of({kernel_.get(), arguments}), "");
    std::vector<std::uint32_t> words(1024);
    executor_->download(words.data(), arguments.tensors[2], 4096);
    first = first.empty() ? words : first;
    EXPECT_EQ(words, first);
  }
}

TEST_F(EmulatedExecutor, ReplaysARecordingAsOftenAsAsked) {
  const LoadedKernel& kernel = load(1, R"(
    if (thread_index() == 0) *static_cast<float*>(arguments.tensors[0]) += arguments.first_batch;
  )");
  void* sum = executor_->allocate(4);
  executor_->fill(sum, 0, 4);
  const StepLaunch one = {&kernel, {.tensors = {sum}, .first_batch = 1}};
  const StepLaunch ten = {&kernel, {.tensors = {sum}, .first_batch = 10}};
  const auto replay = executor_->record({one, ten});
  executor_->replay(*replay);
  EXPECT_GT(executor_->time_replays_ns(*replay, 2), 0.0);
  EXPECT_EQ(download(sum, 1).front(), 33.0f);
}

constexpr const char* kWriteOneTooFar = R"(
  static_cast<float*>(arguments.tensors[0])[thread_index() + 1] = 0.0f;
)";

TEST_F(EmulatedExecutor, NamesTheArgumentThatAKernelOverruns) {
  const LoadedKernel& kernel = load(1, kWriteOneTooFar, grid_of(1), AccessChecks::OfHelpers);
  const StepLaunch launch = {&kernel, {.tensors = {executor_->allocate(256)}}};
  EXPECT_EQ(
      fault_of(launch),
      "bytes up to 4 behind buffer 0 of 256 bytes were written (buffer 0 of 256 bytes is argument "
      "0)"
  );
  EXPECT_EQ(status_, Status::Crashed);
}

TEST_F(EmulatedExecutor, NamesTheThreadThatOverrunsWhenAccessesAreChecked) {
  const LoadedKernel& kernel = load(1, kWriteOneTooFar);
  const StepLaunch launch = {&kernel, {.tensors = {executor_->allocate(256)}}};
  EXPECT_EQ(
      fault_of(launch),
      "thread 63 of block 0 accesses 4 bytes at byte 256 of buffer 0 of 256 bytes, outside of it "
      "(buffer 0 of 256 bytes is argument 0)"
  );
}

// Every order gives the same result, so that only the checks can find the race.
TEST_F(EmulatedExecutor, FindsARaceOfPlainAccesses) {
  const std::string body = R"(
    float* x = static_cast<float*>(arguments.tensors[0]);
    if (thread_index() == 1) x[0] = 0.0f;
    BARRIER
    if (thread_index() == 33 && x[0] == 1.0f) x[1] = 2.0f;
  )";
  const StepArguments arguments = {.tensors = {executor_->allocate(256)}};
  const auto with = [&](const std::string& barrier) {
    std::string text = body;
    return text.replace(text.find("BARRIER"), 7, barrier);
  };
  EXPECT_EQ(fault_of({&load(1, with("block_barrier();")), arguments}), "");
  kernel_.reset();
  EXPECT_EQ(
      fault_of({&load(1, with("warp_barrier();")), arguments}),
      "race: thread 33 of block 0 reads byte 0 of buffer 0 of 256 bytes, which thread 1 of block 0 "
      "wrote with no barrier in between (buffer 0 of 256 bytes is argument 0)"
  );
}

TEST_F(EmulatedExecutor, FindsAMissingGridBarrier) {
  const std::string body = R"(
    u32* control = static_cast<u32*>(arguments.workspace);
    float* shared = reinterpret_cast<float*>(shared_memory());
    float* x = static_cast<float*>(arguments.tensors[0]);
    shared[thread_index()] = 1.0f;
    block_barrier();
    x[block_index() * 64 + thread_index()] = shared[63 - thread_index()];
    BARRIER
    x[256 + block_index() * 64 + thread_index()] = x[(block_index() ^ 1) * 64 + thread_index()];
  )";
  const auto with = [&](const std::string& barrier) {
    std::string text = body;
    return text.replace(text.find("BARRIER"), 7, barrier);
  };
  LaunchPlan plan = grid_of(4);
  plan.dynamic_shared_bytes = 256;
  void* workspace = executor_->allocate(256);
  executor_->fill(workspace, 0, 256);
  const StepArguments arguments = {
      .tensors = {executor_->allocate(2048)}, .workspace = workspace, .spin_limit = 100};
  EXPECT_EQ(
      fault_of(
          {&load(1, with("if (!grid_barrier(control, 4, 0, arguments.spin_limit)) return;"), plan),
           arguments}
      ),
      ""
  );
  kernel_.reset();
  EXPECT_NE(
      fault_of({&load(1, with("block_barrier();"), plan), arguments}).find("race:"),
      std::string::npos
  );
}

TEST_F(EmulatedExecutor, LeavesTheHangOfABarrierInTheStatusWord) {
  const LoadedKernel& kernel = load(
      0,
      R"(
    u32* control = static_cast<u32*>(arguments.workspace);
    if (block_index() == 1) return;
    grid_barrier(control, 2, 4, arguments.spin_limit);
  )",
      grid_of(2)
  );
  void* workspace = executor_->allocate(256);
  executor_->fill(workspace, 0, 256);
  EXPECT_EQ(fault_of({&kernel, {.tensors = {}, .workspace = workspace, .spin_limit = 100}}), "");
  std::uint32_t control[2];
  executor_->download(control, workspace, sizeof control);
  EXPECT_EQ(control[1], 5u);
}

TEST_F(EmulatedExecutor, ReportsAnOverrunAtTheNextSynchronization) {
  auto* memory = static_cast<char*>(executor_->allocate(16));
  memory[-1] = 0;
  executor_->release(memory);
  EXPECT_THROW(executor_->synchronize(), DeviceFault);
  EXPECT_NO_THROW(executor_->synchronize());
}

TEST_F(EmulatedExecutor, RefusesAnArtifactWithoutTheEntry) {
  LaunchPlan plan = grid_of(1);
  plan.entry = "whet_other";
  try {
    load(0, "", plan);
    FAIL();
  } catch (const DeviceFault& fault) {
    EXPECT_EQ(fault.status, Status::LaunchFailed);
    EXPECT_NE(std::string(fault.what()).find("whet_other_emulated"), std::string::npos);
  }
}

}  // namespace
}  // namespace whet
