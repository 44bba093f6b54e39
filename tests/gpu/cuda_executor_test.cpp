// The driver's side of launching, with kernels small enough to see what went wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "jit/compile.hpp"
#include "jit/cuda_device.hpp"
#include "jit/executor.hpp"
#include "jit/step_instance.hpp"

namespace whet {
namespace {

/// Opens each kernel: the argument block of two tensors, and the barrier of emitted kernels.
constexpr const char* kPrelude = R"(
using u32 = unsigned int;
struct StepArguments {
  void* tensors[2];
  void* workspace;
  u32 ring_length, first_batch, spin_limit, refresh;
};
__device__ u32 poll(const u32* word) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ bool grid_barrier(u32* control, u32 num_blocks, u32 place, u32 spin_limit) {
  __syncthreads();
  bool gave_up = false;
  if (threadIdx.x == 0) {
    const u32 arrival = blockIdx.x == 0 ? 0x80000000u - (num_blocks - 1) : 1;
    u32 before;
    asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before) : "l"(control), "r"(arrival) : "memory");
    u32 polls = 0;
    while (((poll(control) ^ before) & 0x80000000u) == 0 && !gave_up) {
      if (++polls > spin_limit) {
        atomicCAS(control + 1, 0u, place + 1);
        gave_up = true;
      }
    }
  }
  return __syncthreads_or(gave_up) == 0;
}
)";

class CudaExecutor : public testing::Test {
 protected:
  void SetUp() override {
    const DriverInfo driver = query_driver();
    if (driver.devices.empty()) {
      GTEST_SKIP() << driver.problem;
    }
    limits_ = query_device_limits("");
    executor_ = make_cuda_executor("");
  }

  LaunchPlan plan_of(int blocks) const {
    LaunchPlan plan;
    plan.target = Target::Cuda;
    plan.arch = limits_.arch;
    plan.blocks = blocks;
    plan.threads = 64;
    plan.dynamic_shared_bytes = 64 * 1024;
    plan.workspace_bytes = 4096;
    plan.cooperative = true;
    plan.arguments.resize(2);
    return plan;
  }

  /// Loads a kernel of whose two tensors `body` knows as `a` and `b`, of floats.
  std::unique_ptr<LoadedKernel> load(const std::string& body, const LaunchPlan& plan) {
    const std::string argument = plan.arguments_in_memory
                                     ? "const StepArguments* pointer"
                                     : "const __grid_constant__ StepArguments arguments";
    const std::string dereference =
        plan.arguments_in_memory ? "const StepArguments& arguments = *pointer;\n" : "";
    KernelSource source;
    source.plan = plan;
    source.text = std::string(kPrelude) +
                  "extern \"C\" __global__ void __launch_bounds__(64, 1) whet_step(" + argument +
                  ") {\n" + dereference +
                  "float* a = static_cast<float*>(arguments.tensors[0]);\n"
                  "float* b = static_cast<float*>(arguments.tensors[1]);\n"
                  "u32* control = static_cast<u32*>(arguments.workspace);\n" +
                  body + "}\n";
    CompileOptions options;
    options.cache_folder = folder_.path() / "cache";
    const CompileOutcome outcome = compile(source, options);
    EXPECT_EQ(outcome.status, Status::Ok) << outcome.detail;
    return executor_->load(outcome.artifact, plan);
  }

  /// A tensor of zeros on the device.
  float* make_tensor(std::size_t size) {
    void* tensor = executor_->allocate(size * sizeof(float));
    executor_->fill(tensor, 0, size * sizeof(float));
    return static_cast<float*>(tensor);
  }
  std::vector<float> read(const float* tensor, std::size_t size) {
    std::vector<float> values(size);
    executor_->download(values.data(), tensor, size * sizeof(float));
    return values;
  }

  /// The fault of `action`, which must throw one.
  template <typename Action>
  static DeviceFault fault_of(Action action) {
    try {
      action();
    } catch (const DeviceFault& fault) {
      return fault;
    }
    ADD_FAILURE() << "no fault";
    return {Status::Ok, ""};
  }

  TemporaryFolder folder_{"whet-gpu-test-"};
  DeviceLimits limits_;
  std::unique_ptr<Executor> executor_;
};

/// Every block adds to its neighbour what that wrote before the barrier.
constexpr const char* kNeighbours = R"(
  if (control[1] != 0) return;
  if (threadIdx.x == 0) a[blockIdx.x] += 1.0f;
  if (!grid_barrier(control, gridDim.x, 7, arguments.spin_limit)) return;
  if (threadIdx.x == 0) b[blockIdx.x] += __ldcg(a + (blockIdx.x + 1) % gridDim.x);
  if (!grid_barrier(control, gridDim.x, 8, arguments.spin_limit)) return;
)";

TEST_F(CudaExecutor, RunsACooperativeGridOnEverySm) {
  const auto blocks = static_cast<std::size_t>(limits_.num_sms);
  const auto kernel = load(kNeighbours, plan_of(limits_.num_sms));
  float* a = make_tensor(blocks);
  float* b = make_tensor(blocks);
  StepInstance instance(*executor_, *kernel, {a, b});
  for (int step = 0; step < 3; ++step) {
    instance.launch(1, 0);
  }
  EXPECT_EQ(instance.hang_place(), std::nullopt);
  EXPECT_EQ(read(a, blocks), std::vector<float>(blocks, 3.0f));
  EXPECT_EQ(read(b, blocks), std::vector<float>(blocks, 6.0f));
}

class CudaReplayOf : public CudaExecutor, public testing::WithParamInterface<int> {};

TEST_P(CudaReplayOf, RunsEachLaunchOnceAReplay) {
  const int num_launches = GetParam();
  const auto blocks = static_cast<std::size_t>(limits_.num_sms);
  const auto kernel = load(kNeighbours, plan_of(limits_.num_sms));
  float* a = make_tensor(blocks);
  float* b = make_tensor(blocks);
  StepInstance instance(*executor_, *kernel, {a, b});
  const std::vector<StepLaunch> launches(
      static_cast<std::size_t>(num_launches), instance.arguments(1, 0)
  );
  const auto replay = executor_->record(launches);
  EXPECT_EQ(read(a, 1).front(), 0.0f);
  executor_->replay(*replay);
  EXPECT_GT(executor_->time_replays_ns(*replay, 4), 0.0);
  EXPECT_EQ(instance.hang_place(), std::nullopt);
  const auto total = static_cast<float>(5 * num_launches);
  EXPECT_EQ(read(a, blocks), std::vector<float>(blocks, total));
  EXPECT_EQ(read(b, blocks), std::vector<float>(blocks, total * (total + 1.0f) / 2.0f));
}

INSTANTIATE_TEST_SUITE_P(Lengths, CudaReplayOf, testing::Values(1, 3, 20));

TEST_F(CudaExecutor, FixesArgumentsWhenRecording) {
  const auto kernel = load(
      "if (threadIdx.x == 0) a[0] = a[0] * 2.0f + arguments.first_batch + arguments.ring_length;\n",
      plan_of(1)
  );
  float* a = make_tensor(1);
  StepInstance instance(*executor_, *kernel, {a, a});
  std::vector<StepLaunch> launches = {instance.arguments(10, 0), instance.arguments(10, 1)};
  const auto replay = executor_->record(launches);
  launches.clear();
  executor_->replay(*replay);
  EXPECT_EQ(read(a, 1).front(), 31.0f);
}

TEST_F(CudaExecutor, PassesALargeArgumentBlockByPointer) {
  LaunchPlan plan = plan_of(1);
  plan.arguments_in_memory = true;
  const auto kernel = load("if (threadIdx.x == 0) a[0] += b[0] + arguments.first_batch;\n", plan);
  float* a = make_tensor(1);
  float* b = make_tensor(1);
  const float five = 5.0f;
  executor_->upload(b, &five, sizeof(five));
  StepInstance instance(*executor_, *kernel, {a, b});
  instance.launch(3, 1);
  executor_->synchronize();
  const auto replay = executor_->record({instance.arguments(3, 2), instance.arguments(3, 0)});
  executor_->replay(*replay);
  EXPECT_EQ(read(a, 1).front(), 18.0f);
}

TEST_F(CudaExecutor, LeavesABarrierThatCannotComplete) {
  const auto kernel = load(
      "if (control[1] != 0) return;\n"
      "if (b[0] != 0.0f && !grid_barrier(control, gridDim.x + 1, 41, arguments.spin_limit)) "
      "return;\n"
      "if (threadIdx.x == 0 && blockIdx.x == 0) a[0] += 1.0f;\n",
      plan_of(2)
  );
  float* a = make_tensor(1);
  float* b = make_tensor(1);
  const float one = 1.0f;
  executor_->upload(b, &one, sizeof(one));
  StepInstance instance(*executor_, *kernel, {a, b});
  instance.set_spin_limit(1000);
  instance.launch(1, 0);
  instance.launch(1, 0);  // in flight before the host knows
  EXPECT_EQ(instance.hang_place(), 41u);
  EXPECT_EQ(read(a, 1).front(), 0.0f);
  EXPECT_EQ(fault_of([&] { instance.launch(1, 0); }).status, Status::BarrierHang);
  executor_->fill(b, 0, sizeof(float));
  instance.refresh();
  instance.launch(1, 0);
  EXPECT_EQ(instance.hang_place(), std::nullopt);
  EXPECT_EQ(read(a, 1).front(), 1.0f);
}

TEST_F(CudaExecutor, RefusesACooperativeGridThatCannotBeResident) {
  const int blocks = limits_.num_sms * 33;  // no SM holds more than 32 blocks
  const DeviceFault fault = fault_of([&] { load(kNeighbours, plan_of(blocks)); });
  EXPECT_EQ(fault.status, Status::LaunchFailed);
  EXPECT_NE(std::string(fault.what()).find("must be resident at once"), std::string::npos)
      << fault.what();
}

TEST_F(CudaExecutor, RefusesSharedMemoryThatDoesNotFit) {
  LaunchPlan plan = plan_of(1);
  plan.dynamic_shared_bytes = static_cast<std::size_t>(limits_.max_shared_bytes_per_block) + 1;
  const DeviceFault fault = fault_of([&] { load(kNeighbours, plan); });
  EXPECT_EQ(fault.status, Status::LaunchFailed);
  EXPECT_NE(std::string(fault.what()).find("of shared memory"), std::string::npos) << fault.what();
}

TEST_F(CudaExecutor, RefusesAKernelOfOtherArguments) {
  const auto kernel = load(kNeighbours, plan_of(1));
  LaunchPlan plan = kernel->plan();
  plan.arguments.resize(3);
  for (const auto& file : std::filesystem::directory_iterator(folder_.path() / "cache")) {
    if (file.path().extension() == ".cubin") {
      const DeviceFault fault = fault_of([&] { executor_->load(file.path(), plan); });
      EXPECT_EQ(fault.status, Status::LaunchFailed);
      EXPECT_STREQ(fault.what(), "the cubin's whet_step takes 40 bytes of arguments, the plan 48");
    }
  }
}

TEST_F(CudaExecutor, RefusesAFileThatIsNoCubin) {
  const auto file = folder_.path() / "kernel.cubin";
  write_file_atomically(file, "not ELF");
  const DeviceFault fault = fault_of([&] { executor_->load(file, plan_of(1)); });
  EXPECT_EQ(fault.status, Status::LaunchFailed);
}

TEST_F(CudaExecutor, MovesMemory) {
  std::array<unsigned char, 8> bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  auto* memory = static_cast<unsigned char*>(executor_->allocate(16));
  executor_->upload(memory, bytes.data(), 8);
  executor_->copy(memory + 8, memory, 8);
  executor_->fill(memory + 8, 9, 2);
  executor_->download(bytes.data(), memory + 8, 8);
  EXPECT_EQ(bytes, (std::array<unsigned char, 8>{9, 9, 3, 4, 5, 6, 7, 8}));
  executor_->release(memory);
}

TEST_F(CudaExecutor, SaysThatMemoryIsOut) {
  const DeviceFault fault = fault_of([&] { executor_->allocate(std::size_t{1} << 50); });
  EXPECT_EQ(fault.status, Status::OutOfMemory);
  EXPECT_NE(std::string(fault.what()).find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos)
      << fault.what();
}

TEST_F(CudaExecutor, TimesMoreReplaysAsLonger) {
  const auto kernel = load(kNeighbours, plan_of(limits_.num_sms));
  float* a = make_tensor(static_cast<std::size_t>(limits_.num_sms));
  StepInstance instance(*executor_, *kernel, {a, a});
  const auto replay = executor_->record({instance.arguments(1, 0)});
  executor_->time_replays_ns(*replay, 100);
  const double ten_ns = executor_->time_replays_ns(*replay, 10);
  const double thousand_ns = executor_->time_replays_ns(*replay, 1000);
  EXPECT_GT(thousand_ns, 20.0 * ten_ns);
  EXPECT_LT(thousand_ns, 1000.0 * ten_ns);
}

TEST_F(CudaExecutor, KnowsClockAndTemperature) {
  if (!query_driver().nvml) {
    GTEST_SKIP() << "no NVML: libnvidia-ml.so.1 is not installed";
  }
  const Conditions conditions = executor_->conditions();
  EXPECT_GT(conditions.clock_mhz, 100.0);
  EXPECT_GT(conditions.temperature_c, 10.0);
}

TEST_F(CudaExecutor, DescribesTheDeviceAndItsDriver) {
  const std::string text = executor_->description();
  EXPECT_TRUE(text.starts_with(limits_.name + " (GPU-")) << text;
  EXPECT_NE(text.find("), driver "), std::string::npos) << text;
}

TEST_F(CudaExecutor, IsMadeByUuid) {
  const CudaDeviceInfo device = query_driver().devices.front();
  EXPECT_NE(make_cuda_executor(device.uuid)->description().find(device.uuid), std::string::npos);
}

// A fault spoils the device for the whole process, so it happens in one of its own.
TEST_F(CudaExecutor, MapsAnIllegalAddressToACrash) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto crash = [&] {
    const auto kernel = load("a[threadIdx.x] = 1.0f;\n", plan_of(1));
    StepInstance instance(*executor_, *kernel, {nullptr, nullptr});
    instance.launch(1, 0);
    const DeviceFault fault = fault_of([&] { executor_->synchronize(); });
    std::fprintf(stderr, "%s\n", fault.what());
    std::_Exit(fault.status == Status::Crashed ? 0 : 1);
  };
  EXPECT_EXIT(crash(), testing::ExitedWithCode(0), "CUDA_ERROR_ILLEGAL_ADDRESS \\(700\\)");
}

TEST_F(CudaExecutor, QueriesLimitsThatAgreeWithEachOther) {
  EXPECT_EQ(limits_.target, Target::Cuda);
  EXPECT_TRUE(limits_.arch.starts_with("sm_")) << limits_.arch;
  EXPECT_GE(limits_.num_sms, 1);
  EXPECT_EQ(limits_.max_threads_per_block, 1024);
  EXPECT_GE(limits_.max_threads_per_sm, limits_.max_threads_per_block);
  EXPECT_EQ(limits_.max_registers_per_sm, 65536);
  EXPECT_GT(limits_.max_shared_bytes_per_block, 48 * 1024);
  EXPECT_GT(limits_.max_shared_bytes_per_sm, limits_.max_shared_bytes_per_block);
  EXPECT_GT(limits_.memory_bytes, std::int64_t{1} << 30);
}

}  // namespace
}  // namespace whet
