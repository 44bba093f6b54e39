#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "base/error.hpp"
#include "host_kernel.hpp"
#include "jit/step_instance.hpp"
#include "jit/thread_pool.hpp"

namespace whet {
namespace {

using CpuExecutor = HostKernels;

constexpr int kMaxBlocks = 2;

/// The executor has as many threads as there are cores, and a machine may have just one.
#define SKIP_WITHOUT_CORES(count)                                     \
  if (num_allowed_cores() < (count)) {                                \
    GTEST_SKIP() << "needs " << (count) << " cores that may be used"; \
  }

TEST_F(CpuExecutor, RunsOneBlockOnTheCaller) {
  const auto executor = make_cpu_executor(1);
  const auto kernel = load(*executor, "a[0] += 2.0f * b[0] + block + num_blocks;\n", 1);
  float a = 1.0f;
  float b = 5.0f;
  StepInstance instance(*executor, *kernel, {&a, &b});
  instance.launch(1, 0);
  EXPECT_EQ(a, 12.0f);
}

TEST_F(CpuExecutor, RunsBlocksThatMeetAtABarrier) {
  SKIP_WITHOUT_CORES(kMaxBlocks);
  const auto executor = make_cpu_executor(kMaxBlocks);
  // Each block adds what the other wrote before the barrier.
  const auto kernel = load(
      *executor,
      "a[block] += 1.0f;\n"
      "if (!barrier(arguments, num_blocks, 0)) return;\n"
      "b[block] += a[1 - block];\n"
      "if (!barrier(arguments, num_blocks, 1)) return;\n",
      kMaxBlocks
  );
  std::array<float, 2> a = {10.0f, 20.0f};
  std::array<float, 2> b = {0.0f, 0.0f};
  StepInstance instance(*executor, *kernel, {a.data(), b.data()});
  instance.set_spin_limit(UINT32_MAX);
  for (int step = 0; step < 3; ++step) {
    instance.launch(1, 0);
  }
  EXPECT_EQ(instance.hang_place(), std::nullopt);
  EXPECT_EQ(a, (std::array{13.0f, 23.0f}));
  EXPECT_EQ(b, (std::array{21.0f + 22.0f + 23.0f, 11.0f + 12.0f + 13.0f}));
}

TEST_F(CpuExecutor, PassesTheArgumentBlock) {
  const auto executor = make_cpu_executor(1);
  const auto kernel = load(
      *executor,
      "a[0] = arguments.ring_length; a[1] = arguments.first_batch;\n"
      "a[2] = arguments.spin_limit; a[3] = arguments.refresh;\n"
      "b[0] = *(static_cast<u32*>(arguments.workspace) + 64) == 0xabababab;\n",
      1,
      512
  );
  std::array<float, 4> a{};
  float b = 0.0f;
  StepInstance instance(*executor, *kernel, {a.data(), &b});
  instance.set_spin_limit(7);
  instance.poison(0xab);
  instance.launch(4, 3);
  EXPECT_EQ(a, (std::array{4.0f, 3.0f, 7.0f, 0.0f}));
  EXPECT_EQ(b, 1.0f);
}

TEST_F(CpuExecutor, GivesEachBlockAlignedScratch) {
  SKIP_WITHOUT_CORES(kMaxBlocks);
  const auto executor = make_cpu_executor(kMaxBlocks);
  const auto kernel = load(
      *executor,
      "for (int i = 0; i < 1000; ++i) static_cast<char*>(scratch)[i] = block + 1;\n"
      "if (!barrier(arguments, num_blocks, 0)) return;\n"
      "a[block] = static_cast<char*>(scratch)[999];\n"
      "b[block] = reinterpret_cast<unsigned long>(scratch) % 64;\n",
      kMaxBlocks
  );
  std::array<float, 2> a{};
  std::array<float, 2> b{};
  StepInstance instance(*executor, *kernel, {a.data(), b.data()});
  instance.set_spin_limit(UINT32_MAX);
  instance.launch(1, 0);
  EXPECT_EQ(a, (std::array{1.0f, 2.0f}));
  EXPECT_EQ(b, (std::array{0.0f, 0.0f}));
}

TEST_F(CpuExecutor, ReplaysWhatWasRecorded) {
  const auto executor = make_cpu_executor(1);
  const auto kernel = load(*executor, "a[0] = a[0] * 2.0f + arguments.first_batch;\n", 1);
  float a = 1.0f;
  StepInstance instance(*executor, *kernel, {&a, &a});
  const auto replay = executor->record({instance.arguments(2, 0), instance.arguments(2, 1)});
  EXPECT_EQ(a, 1.0f);
  executor->replay(*replay);
  EXPECT_EQ(a, 5.0f);
  EXPECT_GT(executor->time_replays_ns(*replay, 2), 0.0);
  EXPECT_EQ(a, 85.0f);
}

TEST_F(CpuExecutor, RefusesMoreBlocksThanThreads) {
  const auto executor = make_cpu_executor(1);
  try {
    load(*executor, "", 2);
    FAIL() << "no fault";
  } catch (const DeviceFault& fault) {
    EXPECT_EQ(fault.status, Status::LaunchFailed);
    EXPECT_STREQ(fault.what(), "the kernel needs 2 threads that run at once, and the pool has 1");
  }
}

TEST_F(CpuExecutor, RefusesAFileThatIsNoLibrary) {
  const auto executor = make_cpu_executor(1);
  const auto file = folder_.path() / "kernel.so";
  write_file_atomically(file, "not ELF");
  try {
    executor->load(file, LaunchPlan{});
    FAIL() << "no fault";
  } catch (const DeviceFault& fault) {
    EXPECT_EQ(fault.status, Status::LaunchFailed);
    EXPECT_NE(std::string(fault.what()).find("kernel.so"), std::string::npos) << fault.what();
  }
}

TEST_F(CpuExecutor, NamesTheEntryThatIsMissing) {
  const auto executor = make_cpu_executor(1);
  const auto kernel = load(*executor, "", 1);
  LaunchPlan plan = kernel->plan();
  plan.entry = "absent";
  const auto file = std::filesystem::directory_iterator(folder_.path() / "cache");
  for (const auto& artifact : file) {
    if (artifact.path().extension() == ".so") {
      EXPECT_THROW(executor->load(artifact.path(), plan), DeviceFault);
    }
  }
}

TEST_F(CpuExecutor, MovesMemory) {
  const auto executor = make_cpu_executor(1);
  std::array<unsigned char, 8> bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  auto* memory = static_cast<unsigned char*>(executor->allocate(16));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
  executor->upload(memory, bytes.data(), 8);
  executor->copy(memory + 4, memory, 8);
  executor->fill(memory, 9, 2);
  executor->download(bytes.data(), memory, 8);
  EXPECT_EQ(bytes, (std::array<unsigned char, 8>{9, 9, 3, 4, 1, 2, 3, 4}));
  executor->release(memory);
}

TEST_F(CpuExecutor, SaysThatMemoryIsOut) {
  const auto executor = make_cpu_executor(1);
  try {
    executor->allocate(SIZE_MAX / 2);
    FAIL() << "no fault";
  } catch (const DeviceFault& fault) {
    EXPECT_EQ(fault.status, Status::OutOfMemory);
  }
}

TEST_F(CpuExecutor, HasNoMoreThreadsThanCores) {
  const auto executor = make_cpu_executor(100'000);
  const std::string threads = std::to_string(num_allowed_cores()) + " thread";
  EXPECT_NE(executor->description().find(threads), std::string::npos) << executor->description();
}

TEST(ThreadPool, CallsEachThreadOnceARun) {
  ThreadPool pool(3);
  std::array<std::atomic<int>, 3> calls{};
  const auto count = [](void* context, int thread) {
    ++(*static_cast<std::array<std::atomic<int>, 3>*>(context))[static_cast<std::size_t>(thread)];
  };
  for (int run = 0; run < 1000; ++run) {
    pool.run(run % 3 + 1, count, &calls);
  }
  EXPECT_EQ(calls[0], 1000);
  EXPECT_EQ(calls[1], 666);
  EXPECT_EQ(calls[2], 333);
}

}  // namespace
}  // namespace whet
