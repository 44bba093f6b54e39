#include "jit/cuda_driver.hpp"

#include <cstdio>
#include <exception>
#include <optional>

#include "base/error.hpp"
#include "jit/executor.hpp"

namespace whet {
namespace {

constexpr const char* kAdvice = "use --target cpu or --compile-only";

/// What a failed call says of the kernel that was running.
enum class Blame { Memory, Kernel, Watchdog, Launch, Machine };

Blame blame(cuda::Result result) {
  switch (result) {
    case 2:  // OUT_OF_MEMORY
      return Blame::Memory;
    case 700:  // ILLEGAL_ADDRESS
    case 710:  // ASSERT
    case 714:  // HARDWARE_STACK_ERROR
    case 715:  // ILLEGAL_INSTRUCTION
    case 716:  // MISALIGNED_ADDRESS
    case 717:  // INVALID_ADDRESS_SPACE
    case 718:  // INVALID_PC
    case 719:  // LAUNCH_FAILED
    case 721:  // TENSOR_MEMORY_LEAK
      return Blame::Kernel;
    case 702:  // LAUNCH_TIMEOUT
      return Blame::Watchdog;
    case 46:   // DEVICE_UNAVAILABLE
    case 100:  // NO_DEVICE
    case 214:  // ECC_UNCORRECTABLE
    case 220:  // NVLINK_UNCORRECTABLE
    case 226:  // CONTAINED: an ECC error of memory that this context does not use
    case 802:  // SYSTEM_NOT_READY
    case 803:  // SYSTEM_DRIVER_MISMATCH
    case 810:  // MPS_CLIENT_TERMINATED: another client's fault
      return Blame::Machine;
    default:
      return Blame::Launch;
  }
}

}  // namespace

CudaDriver load_cuda_driver() {
  std::string error;
  std::optional<SharedLibrary> library =
      SharedLibrary::open("libcuda.so.1", SharedLibrary::Lifetime::Process, error);
  if (!library) {
    throw EnvironmentError(fmt::format("no NVIDIA driver found: {}; {}", error, kAdvice));
  }
  CudaDriver driver{.library = std::move(*library)};
  const auto require = [&](const char* name, auto*& function) {
    if (!driver.library.find(name, function)) {
      throw EnvironmentError(fmt::format(
          "the NVIDIA driver has no {}: one of CUDA 12 (525) or later is needed; {}", name, kAdvice
      ));
    }
  };
  require("cuInit", driver.init);
  require("cuDriverGetVersion", driver.driver_version);
  require("cuGetErrorName", driver.error_name);
  require("cuGetErrorString", driver.error_text);
  require("cuDeviceGetCount", driver.device_count);
  require("cuDeviceGet", driver.device_get);
  require("cuDeviceGetName", driver.device_name);
  require("cuDeviceGetUuid_v2", driver.device_uuid);
  require("cuDeviceGetAttribute", driver.device_attribute);
  require("cuDeviceTotalMem_v2", driver.device_memory);
  require("cuDevicePrimaryCtxRetain", driver.primary_context_retain);
  require("cuDevicePrimaryCtxRelease_v2", driver.primary_context_release);
  require("cuCtxSetCurrent", driver.context_set_current);
  require("cuMemAlloc_v2", driver.allocate);
  require("cuMemFree_v2", driver.free);
  require("cuMemcpyHtoDAsync_v2", driver.upload);
  require("cuMemcpyDtoHAsync_v2", driver.download);
  require("cuMemcpyDtoDAsync_v2", driver.copy);
  require("cuMemsetD8Async", driver.fill);
  require("cuLibraryLoadData", driver.library_load);
  require("cuLibraryUnload", driver.library_unload);
  require("cuLibraryGetKernel", driver.library_kernel);
  require("cuKernelGetFunction", driver.kernel_function);
  require("cuKernelSetAttribute", driver.kernel_set_attribute);
  require("cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.max_blocks_per_sm);
  require("cuLaunchKernelEx", driver.launch);
  require("cuStreamCreate", driver.stream_create);
  require("cuStreamDestroy_v2", driver.stream_destroy);
  require("cuStreamSynchronize", driver.stream_synchronize);
  require("cuStreamBeginCapture_v2", driver.capture_begin);
  require("cuStreamEndCapture", driver.capture_end);
  require("cuGraphDestroy", driver.graph_destroy);
  require("cuGraphInstantiateWithFlags", driver.graph_instantiate);
  require("cuGraphExecDestroy", driver.graph_exec_destroy);
  require("cuGraphUpload", driver.graph_upload);
  require("cuGraphLaunch", driver.graph_launch);
  require("cuEventCreate", driver.event_create);
  require("cuEventDestroy_v2", driver.event_destroy);
  require("cuEventRecord", driver.event_record);
  require("cuEventSynchronize", driver.event_synchronize);
  require("cuEventElapsedTime", driver.event_elapsed_ms);
  const cuda::Result started = driver.init(0);
  if (started != cuda::kSuccess) {
    throw EnvironmentError(fmt::format(
        "the NVIDIA driver does not start: cuInit: {}; {}", describe(driver, started), kAdvice
    ));
  }
  return driver;
}

std::string describe(const CudaDriver& driver, cuda::Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  const bool known = driver.error_name(result, &name) == cuda::kSuccess && name != nullptr &&
                     driver.error_text(result, &text) == cuda::kSuccess && text != nullptr;
  return known ? fmt::format("{} ({}): {}", name, result, text)
               : fmt::format("error {} that the driver does not name", result);
}

void check(const CudaDriver& driver, cuda::Result result, const std::string& what) {
  if (result == cuda::kSuccess) {
    return;
  }
  const std::string detail = fmt::format("{}: {}", what, describe(driver, result));
  switch (blame(result)) {
    case Blame::Memory:
      throw DeviceFault(Status::OutOfMemory, detail);
    case Blame::Kernel:
      throw DeviceFault(Status::Crashed, detail);
    case Blame::Watchdog:
      throw DeviceFault(Status::TimedOut, detail);
    case Blame::Launch:
      throw DeviceFault(Status::LaunchFailed, detail);
    case Blame::Machine:
      throw EnvironmentError(detail);
  }
}

void report(const CudaDriver& driver, cuda::Result result, const char* what) noexcept {
  if (result == cuda::kSuccess || blame(result) == Blame::Kernel) {
    return;
  }
  try {
    fmt::print(stderr, "whet: {}: {}\n", what, describe(driver, result));
  } catch (const std::exception&) {
    std::fprintf(stderr, "whet: %s: error %d\n", what, result);
  }
}

}  // namespace whet
