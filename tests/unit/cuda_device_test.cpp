// What can be said of CUDA devices where there is none.
#include "jit/cuda_device.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.hpp"
#include "jit/executor.hpp"
#include "jit/shared_library.hpp"

namespace whet {
namespace {

std::vector<CudaDeviceInfo> two_devices() {
  CudaDeviceInfo first;
  first.name = "NVIDIA H200";
  first.uuid = "GPU-0a1b2c3d-0000-0000-0000-000000000001";
  CudaDeviceInfo second = first;
  second.ordinal = 1;
  second.uuid = "GPU-0a1b2c3d-0000-0000-0000-000000000002";
  return {first, second};
}

/// The message of the error of type E that `action` throws.
template <typename E>
std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

bool has_driver() {
  std::string error;
  return SharedLibrary::open("libcuda.so.1", SharedLibrary::Lifetime::Process, error).has_value();
}

TEST(CudaDevice, IsChosenByOrdinalOrUuid) {
  EXPECT_EQ(choose_cuda_device(two_devices(), "").ordinal, 0);
  EXPECT_EQ(choose_cuda_device(two_devices(), "1").ordinal, 1);
  const std::string uuid = two_devices()[1].uuid;
  EXPECT_EQ(choose_cuda_device(two_devices(), uuid).ordinal, 1);
  EXPECT_EQ(choose_cuda_device({two_devices()[0]}, "GPU-0a1b").ordinal, 0);
}

TEST(CudaDevice, OfAMigSliceIsChosenByItsUuid) {
  EXPECT_EQ(
      choose_cuda_device(two_devices(), "MIG-0a1b2c3d-0000-0000-0000-000000000002").ordinal, 1
  );
}

TEST(CudaDevice, ThatIsNotThereIsRefusedWithThoseThatAre) {
  EXPECT_EQ(
      refusal<EnvironmentError>([] { choose_cuda_device({two_devices()[0]}, "3"); }),
      "no CUDA device 3: there are 0: NVIDIA H200 (GPU-0a1b2c3d-0000-0000-0000-000000000001)"
  );
}

TEST(CudaDevice, IsRefusedWhenAllAreHidden) {
  EXPECT_EQ(
      refusal<EnvironmentError>([] { choose_cuda_device({}, ""); }),
      "no CUDA device 0: there is none that CUDA_VISIBLE_DEVICES lets through"
  );
}

TEST(CudaDevice, IsRefusedWhenItsUuidIsNotUnique) {
  const std::string text =
      refusal<EnvironmentError>([] { choose_cuda_device(two_devices(), "GPU-0a1b"); });
  EXPECT_TRUE(text.starts_with("more than one CUDA device GPU-0a1b")) << text;
}

TEST(CudaDevice, NameThatIsNeitherIsTheUsersError) {
  for (const char* name : {"h200", "-1", "1x", "99999999999"}) {
    const std::string text = refusal<UserError>([&] { choose_cuda_device(two_devices(), name); });
    EXPECT_NE(text.find("expected an ordinal"), std::string::npos) << text;
  }
}

TEST(CudaArch, HasArchitectureSpecificInstructionsFromHopperOn) {
  EXPECT_EQ(cuda_arch(8, 0), "sm_80");
  EXPECT_EQ(cuda_arch(8, 9), "sm_89");
  EXPECT_EQ(cuda_arch(9, 0), "sm_90a");
  EXPECT_EQ(cuda_arch(10, 3), "sm_103a");
}

TEST(CudaFeatureLevel, OfConsumerBlackwellIsAmperes) {
  EXPECT_EQ(cuda_feature_level(8), 80);
  EXPECT_EQ(cuda_feature_level(9), 90);
  EXPECT_EQ(cuda_feature_level(10), 100);
  EXPECT_EQ(cuda_feature_level(12), 80);
}

TEST(CudaExecutor, SaysThatThereIsNoDriverAndWhatToDo) {
  if (has_driver()) {
    GTEST_SKIP() << "this machine has a driver";
  }
  const std::string text = refusal<EnvironmentError>([] { make_cuda_executor("0"); });
  EXPECT_TRUE(text.starts_with("no NVIDIA driver found: libcuda.so.1: ")) << text;
  EXPECT_TRUE(text.ends_with("; use --target cpu or --compile-only")) << text;
  EXPECT_EQ(refusal<EnvironmentError>([] { query_device_limits(""); }), text);
}

TEST(DriverInfo, HoldsTheProblemInsteadOfThrowingIt) {
  if (has_driver()) {
    GTEST_SKIP() << "this machine has a driver";
  }
  const DriverInfo info = query_driver();
  EXPECT_FALSE(info.driver);
  EXPECT_TRUE(info.devices.empty());
  EXPECT_TRUE(info.problem.starts_with("no NVIDIA driver found: ")) << info.problem;
}

}  // namespace
}  // namespace whet
