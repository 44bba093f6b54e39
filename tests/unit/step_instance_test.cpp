#include "jit/step_instance.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "host_kernel.hpp"

namespace whet {
namespace {

/// On the CPU, with a kernel that waits for a second block, which there is not, when `b` says so.
class StepInstanceTest : public HostKernels {
 protected:
  void SetUp() override {
    executor_ = make_cpu_executor(1);
    kernel_ = load(
        *executor_,
        "if (static_cast<u32*>(arguments.workspace)[1] != 0) return;\n"
        "if (b[0] != 0.0f && !barrier(arguments, 2, 41)) return;\n"
        "a[0] += 1.0f;\n",
        1,
        4096
    );
  }

  std::unique_ptr<Executor> executor_;
  std::unique_ptr<LoadedKernel> kernel_;
  float a_ = 0.0f;
  float b_ = 0.0f;
};

TEST_F(StepInstanceTest, StartsWithoutAHang) {
  StepInstance instance(*executor_, *kernel_, {&a_, &b_});
  instance.launch(1, 0);
  EXPECT_EQ(a_, 1.0f);
  EXPECT_EQ(instance.hang_place(), std::nullopt);
}

TEST_F(StepInstanceTest, TellsWhereABlockLeftABarrier) {
  StepInstance instance(*executor_, *kernel_, {&a_, &b_});
  instance.set_spin_limit(10);
  b_ = 1.0f;
  instance.launch(1, 0);
  EXPECT_EQ(instance.hang_place(), 41u);
  EXPECT_EQ(a_, 0.0f);
}

TEST_F(StepInstanceTest, RefusesToLaunchAfterAHangUntilRefreshed) {
  StepInstance instance(*executor_, *kernel_, {&a_, &b_});
  instance.set_spin_limit(10);
  b_ = 1.0f;
  instance.launch(1, 0);
  instance.hang_place();
  b_ = 0.0f;
  try {
    instance.launch(1, 0);
    FAIL() << "no fault";
  } catch (const DeviceFault& fault) {
    EXPECT_EQ(fault.status, Status::BarrierHang);
    EXPECT_NE(std::string(fault.what()).find("barrier 41"), std::string::npos) << fault.what();
    EXPECT_NE(std::string(fault.what()).find("refresh()"), std::string::npos) << fault.what();
  }
  instance.refresh();
  instance.launch(1, 0);
  EXPECT_EQ(a_, 1.0f);
  EXPECT_EQ(instance.hang_place(), std::nullopt);
}

TEST_F(StepInstanceTest, LaunchesThatFollowAHangEndAtOnce) {
  StepInstance instance(*executor_, *kernel_, {&a_, &b_});
  instance.set_spin_limit(10);
  b_ = 1.0f;
  instance.launch(1, 0);
  b_ = 0.0f;
  instance.launch(1, 0);  // the host has not looked yet
  EXPECT_EQ(a_, 0.0f);
}

TEST_F(StepInstanceTest, PoisonLeavesTheControlWords) {
  StepInstance instance(*executor_, *kernel_, {&a_, &b_});
  instance.poison(0xff);
  EXPECT_EQ(instance.hang_place(), std::nullopt);
}

/// A kernel that counts its launches, and writes the count from which it went on.
class CountingInstanceTest : public HostKernels {
 protected:
  static constexpr std::size_t kCounterOffset = 2048;

  std::unique_ptr<Executor> executor_ = make_cpu_executor(1);
  std::unique_ptr<LoadedKernel> kernel_ = load(
      *executor_,
      "u32* next = static_cast<u32*>(arguments.workspace) + 512;\n"
      "if (b[0] != 0.0f && !barrier(arguments, 2, 41)) return;\n"
      "a[0] = static_cast<float>((*next)++);\n",
      1,
      4096,
      kCounterOffset
  );
  float a_ = -1.0f;
  float b_ = 0.0f;
  StepInstance instance_{*executor_, *kernel_, {&a_, &b_}};

  float begun_with() {
    instance_.launch(8, 0);
    executor_->synchronize();
    return a_;
  }
};

TEST_F(CountingInstanceTest, BeginsWithTheFirstBatchAndGoesOn) {
  EXPECT_EQ(begun_with(), 0.0f);
  EXPECT_EQ(begun_with(), 1.0f);
}

TEST_F(CountingInstanceTest, GoesOnFromTheBatchThatItIsSentTo) {
  instance_.seek(5);
  EXPECT_EQ(begun_with(), 5.0f);
  EXPECT_EQ(begun_with(), 6.0f);
}

TEST_F(CountingInstanceTest, RefreshKeepsThePlaceAndPoisonDoesNot) {
  begun_with();
  instance_.refresh();
  EXPECT_EQ(begun_with(), 1.0f);
  instance_.poison(0xff);
  EXPECT_EQ(begun_with(), 0.0f);
}

TEST_F(CountingInstanceTest, BeginsAgainOnceRefreshedAfterAHang) {
  begun_with();
  instance_.set_spin_limit(10);
  b_ = 1.0f;
  instance_.launch(8, 0);
  ASSERT_EQ(instance_.hang_place(), 41u);
  b_ = 0.0f;
  instance_.refresh();
  EXPECT_EQ(begun_with(), 0.0f);
}

TEST_F(StepInstanceTest, RefusesAnotherNumberOfTensors) {
  EXPECT_THROW(StepInstance(*executor_, *kernel_, {&a_}), InternalError);
}

}  // namespace
}  // namespace whet
