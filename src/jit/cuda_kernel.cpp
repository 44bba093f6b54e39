#include "jit/cuda_kernel.hpp"

#include <cstdint>

#include "base/error.hpp"
#include "jit/argument_block.hpp"
#include "jit/cubin.hpp"

namespace whet {
namespace {

/// Throws DeviceFault when the cubin's kernel takes other arguments than the plan says: launching
/// it would read beyond the argument block.
void check_arguments(const std::string& cubin, const LaunchPlan& plan) {
  const StepArguments empty{.tensors = std::vector<void*>(plan.arguments.size())};
  const std::size_t expected =
      plan.arguments_in_memory ? sizeof(void*) : argument_block(empty, plan).size();
  try {
    const std::int64_t found = read_cubin(cubin, plan.entry).parameter_bytes;
    if (found != static_cast<std::int64_t>(expected)) {
      throw DeviceFault(
          Status::LaunchFailed,
          fmt::format(
              "the cubin's {} takes {} bytes of arguments, the plan {}", plan.entry, found, expected
          )
      );
    }
  } catch (const EnvironmentError& error) {
    throw DeviceFault(Status::LaunchFailed, error.what());
  }
}

/// Checks first that the bytes are a cubin: the driver is not told how many there are.
Owned<cuda::LibraryObject> load_library(
    const SharedContext& cuda, const std::string& cubin, const LaunchPlan& plan
) {
  check_arguments(cubin, plan);
  cuda::LibraryObject* library = nullptr;
  check(
      cuda->driver,
      cuda->driver.library_load(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "cuLibraryLoadData"
  );
  return {library, {cuda, &CudaDriver::library_unload, "cuLibraryUnload"}};
}

}  // namespace

CudaKernel::CudaKernel(const SharedContext& cuda, const std::string& cubin, const LaunchPlan& plan)
    : plan_(plan), library_(load_library(cuda, cubin, plan)) {
  const CudaDriver& driver = cuda->driver;
  cuda::KernelObject* kernel = nullptr;
  check(
      driver,
      driver.library_kernel(&kernel, library_.get(), plan.entry.c_str()),
      fmt::format("cuLibraryGetKernel({})", plan.entry)
  );
  check(
      driver,
      driver.kernel_set_attribute(
          cuda::kMaxDynamicSharedBytes,
          static_cast<int>(plan.dynamic_shared_bytes),
          kernel,
          cuda->device.handle
      ),
      fmt::format("cuKernelSetAttribute({} bytes of shared memory)", plan.dynamic_shared_bytes)
  );
  constexpr int kPortableClusterBlocks = 8;  // what every GPU with clusters takes unasked
  if (plan.cluster && plan.blocks > kPortableClusterBlocks) {
    check(
        driver,
        driver.kernel_set_attribute(
            cuda::kNonPortableClusterSizeAllowed, 1, kernel, cuda->device.handle
        ),
        fmt::format("cuKernelSetAttribute(clusters of {} blocks)", plan.blocks)
    );
  }
  check(driver, driver.kernel_function(&function_, kernel), "cuKernelGetFunction");
  check_fits(*cuda);
}

void CudaKernel::check_fits(const CudaContext& cuda) const {
  int blocks_per_sm = 0;
  check(
      cuda.driver,
      cuda.driver.max_blocks_per_sm(
          &blocks_per_sm, function_, plan_.threads, plan_.dynamic_shared_bytes
      ),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor"
  );
  int num_sms = 0;
  check(
      cuda.driver,
      cuda.driver.device_attribute(&num_sms, cuda::DeviceAttribute::NumSms, cuda.device.handle),
      "cuDeviceGetAttribute"
  );
  const std::int64_t resident = std::int64_t{blocks_per_sm} * num_sms;
  if (resident < (plan_.cooperative ? plan_.blocks : 1)) {
    throw DeviceFault(
        Status::LaunchFailed,
        fmt::format(
            "{} blocks of {} threads and {} bytes of dynamic shared memory must be resident at "
            "once, but {} holds {} on each of {} SMs",
            plan_.cooperative ? plan_.blocks : 1,
            plan_.threads,
            plan_.dynamic_shared_bytes,
            cuda.device.name,
            blocks_per_sm,
            num_sms
        )
    );
  }
}

}  // namespace whet
