#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "jit/shared_library.hpp"

namespace whet {

/// Our own declarations of the part of cuda.h that we call, so that no CUDA header is needed and a
/// program starts where there is no driver. Source: cuda.h of CUDA 13.0.
namespace cuda {

using Result = int;
inline constexpr Result kSuccess = 0;

using Device = int;
using DevicePointer = unsigned long long;
struct ContextObject;
struct StreamObject;
struct EventObject;
struct GraphObject;
struct GraphExecObject;
struct LibraryObject;
struct KernelObject;
struct FunctionObject;

struct Uuid {
  unsigned char bytes[16];
};

/// Launch attributes by number; the value is a union of 64 bytes, of which we set an int or
/// three.
struct LaunchAttribute {
  static constexpr unsigned kCooperative = 2;
  static constexpr unsigned kClusterDimension = 4;
  static constexpr unsigned kProgrammaticStreamSerialization = 6;
  unsigned id = 0;
  unsigned padding = 0;
  union {
    int value;
    unsigned dimension[3];
    std::uint64_t size[8] = {};
  };
};
static_assert(sizeof(LaunchAttribute) == 72, "as CUlaunchAttribute");

struct LaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  StreamObject* stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned num_attributes = 0;
};
static_assert(sizeof(LaunchConfig) == 56, "as CUlaunchConfig");

/// Numbers of CUdevice_attribute.
enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  NumSms = 16,
  MaxThreadsPerSm = 39,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  MaxSharedBytesPerSm = 81,
  MaxRegistersPerSm = 82,
  CooperativeLaunch = 95,
  MaxSharedBytesPerBlock = 97,  ///< by opting in
};

inline constexpr int kMaxDynamicSharedBytes = 8;  // of CUfunction_attribute
inline constexpr int kNonPortableClusterSizeAllowed = 14;
inline constexpr unsigned kNonBlockingStream = 1;
inline constexpr int kThreadLocalCapture = 1;

}  // namespace cuda

/// The driver's functions, loaded.
struct CudaDriver {
  SharedLibrary library;

  cuda::Result (*init)(unsigned flags) = nullptr;
  cuda::Result (*driver_version)(int*) = nullptr;
  cuda::Result (*error_name)(cuda::Result, const char**) = nullptr;
  cuda::Result (*error_text)(cuda::Result, const char**) = nullptr;

  cuda::Result (*device_count)(int*) = nullptr;
  cuda::Result (*device_get)(cuda::Device*, int ordinal) = nullptr;
  cuda::Result (*device_name)(char*, int size, cuda::Device) = nullptr;
  cuda::Result (*device_uuid)(cuda::Uuid*, cuda::Device) = nullptr;
  cuda::Result (*device_attribute)(int*, cuda::DeviceAttribute, cuda::Device) = nullptr;
  cuda::Result (*device_memory)(std::size_t*, cuda::Device) = nullptr;
  cuda::Result (*primary_context_retain)(cuda::ContextObject**, cuda::Device) = nullptr;
  cuda::Result (*primary_context_release)(cuda::Device) = nullptr;
  cuda::Result (*context_set_current)(cuda::ContextObject*) = nullptr;

  cuda::Result (*allocate)(cuda::DevicePointer*, std::size_t) = nullptr;
  cuda::Result (*free)(cuda::DevicePointer) = nullptr;
  cuda::Result (*upload
  )(cuda::DevicePointer, const void*, std::size_t, cuda::StreamObject*) = nullptr;
  cuda::Result (*download)(void*, cuda::DevicePointer, std::size_t, cuda::StreamObject*) = nullptr;
  cuda::Result (*copy
  )(cuda::DevicePointer, cuda::DevicePointer, std::size_t, cuda::StreamObject*) = nullptr;
  cuda::Result (*fill
  )(cuda::DevicePointer, unsigned char, std::size_t, cuda::StreamObject*) = nullptr;

  cuda::Result (*library_load
  )(cuda::LibraryObject**, const void* image, void*, void*, unsigned, void*, void*, unsigned
  ) = nullptr;
  cuda::Result (*library_unload)(cuda::LibraryObject*) = nullptr;
  cuda::Result (*library_kernel)(cuda::KernelObject**, cuda::LibraryObject*, const char*) = nullptr;
  cuda::Result (*kernel_function)(cuda::FunctionObject**, cuda::KernelObject*) = nullptr;
  cuda::Result (*kernel_set_attribute
  )(int attribute, int value, cuda::KernelObject*, cuda::Device) = nullptr;
  cuda::Result (*max_blocks_per_sm
  )(int*, cuda::FunctionObject*, int threads, std::size_t dynamic_shared_bytes) = nullptr;
  cuda::Result (*launch
  )(const cuda::LaunchConfig*, cuda::FunctionObject*, void** parameters, void** extra) = nullptr;

  cuda::Result (*stream_create)(cuda::StreamObject**, unsigned flags) = nullptr;
  cuda::Result (*stream_destroy)(cuda::StreamObject*) = nullptr;
  cuda::Result (*stream_synchronize)(cuda::StreamObject*) = nullptr;
  cuda::Result (*capture_begin)(cuda::StreamObject*, int mode) = nullptr;
  cuda::Result (*capture_end)(cuda::StreamObject*, cuda::GraphObject**) = nullptr;
  cuda::Result (*graph_destroy)(cuda::GraphObject*) = nullptr;
  cuda::Result (*graph_instantiate
  )(cuda::GraphExecObject**, cuda::GraphObject*, unsigned long long flags) = nullptr;
  cuda::Result (*graph_exec_destroy)(cuda::GraphExecObject*) = nullptr;
  cuda::Result (*graph_upload)(cuda::GraphExecObject*, cuda::StreamObject*) = nullptr;
  cuda::Result (*graph_launch)(cuda::GraphExecObject*, cuda::StreamObject*) = nullptr;
  cuda::Result (*event_create)(cuda::EventObject**, unsigned flags) = nullptr;
  cuda::Result (*event_destroy)(cuda::EventObject*) = nullptr;
  cuda::Result (*event_record)(cuda::EventObject*, cuda::StreamObject*) = nullptr;
  cuda::Result (*event_synchronize)(cuda::EventObject*) = nullptr;
  cuda::Result (*event_elapsed_ms)(float*, cuda::EventObject*, cuda::EventObject*) = nullptr;
};

/// Loads libcuda.so.1 and starts it. Throws EnvironmentError: there is no driver, it is older than
/// CUDA 12, or it does not start; with its own text and what to do.
CudaDriver load_cuda_driver();

/// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
std::string describe(const CudaDriver& driver, cuda::Result result);
/// Does nothing on success. Else throws DeviceFault (OutOfMemory, Crashed, TimedOut or
/// LaunchFailed) with `what` and the driver's text, or EnvironmentError when it is the machine that
/// is broken.
void check(const CudaDriver& driver, cuda::Result result, const std::string& what);
/// For destructors: says on standard error what failed, unless a fault was reported before that
/// makes every later call fail too.
void report(const CudaDriver& driver, cuda::Result result, const char* what) noexcept;

}  // namespace whet
