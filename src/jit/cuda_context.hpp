#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "jit/cuda_device.hpp"
#include "jit/cuda_driver.hpp"

namespace whet {

/// The driver with a device's primary context, current in the thread that made it. Kernels and
/// recordings share it, so that it goes last.
struct CudaContext {
  /// `device_name` as choose_cuda_device takes it, with its errors.
  explicit CudaContext(const std::string& device_name);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  CudaDriver driver;
  CudaDeviceInfo device;
};
using SharedContext = std::shared_ptr<const CudaContext>;

/// Destroys an object of the driver by the function of it that does so.
template <typename Object>
struct Destroy {
  using Function = cuda::Result (*)(Object*);
  SharedContext cuda;
  Function CudaDriver::*function = nullptr;
  const char* name = "";

  void operator()(Object* object) const noexcept {
    report(cuda->driver, (cuda->driver.*function)(object), name);
  }
};
/// Owns an object of the driver.
template <typename Object>
using Owned = std::unique_ptr<Object, Destroy<Object>>;

/// Owns plain device memory, never managed.
class DeviceMemory {
 public:
  /// Throws DeviceFault (OutOfMemory).
  DeviceMemory(SharedContext cuda, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept
      : cuda_(std::move(other.cuda_)), pointer_(std::exchange(other.pointer_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;

  cuda::DevicePointer get() const { return pointer_; }
  /// Gives ownership up.
  void* release() {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(std::exchange(pointer_, 0)));
  }

 private:
  SharedContext cuda_;
  cuda::DevicePointer pointer_ = 0;
};

}  // namespace whet
