#include "jit/cuda_context.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whet {
namespace {

void release_context(const CudaDriver& driver, cuda::Device device) noexcept {
  report(driver, driver.primary_context_release(device), "cuDevicePrimaryCtxRelease");
}

}  // namespace

CudaContext::CudaContext(const std::string& device_name)
    : driver(load_cuda_driver()),
      device(choose_cuda_device(list_cuda_devices(driver), device_name)) {
  cuda::ContextObject* context = nullptr;
  check(driver, driver.primary_context_retain(&context, device.handle), "cuDevicePrimaryCtxRetain");
  const cuda::Result result = driver.context_set_current(context);
  if (result != cuda::kSuccess) {
    release_context(driver, device.handle);
    check(driver, result, "cuCtxSetCurrent");
  }
}

CudaContext::~CudaContext() { release_context(driver, device.handle); }

DeviceMemory::DeviceMemory(SharedContext cuda, std::size_t bytes) : cuda_(std::move(cuda)) {
  // The driver refuses to allocate nothing, and an empty tensor needs a pointer too.
  const cuda::Result result = cuda_->driver.allocate(&pointer_, std::max<std::size_t>(bytes, 1));
  check(cuda_->driver, result, fmt::format("cuMemAlloc of {} bytes", bytes));
}

DeviceMemory::~DeviceMemory() {
  if (pointer_ != 0) {
    report(cuda_->driver, cuda_->driver.free(pointer_), "cuMemFree");
  }
}

}  // namespace whet
