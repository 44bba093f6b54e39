#include "harness/cuda_capture.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace whet {
namespace {

/// The few entry points of libcudart that recording needs, found where LibTorch has loaded them, so
/// that building needs no CUDA headers. Source of names and types: cuda_runtime_api.h, CUDA 13.0.
struct CudaRuntime {
  using Stream = void*;
  using GraphHandle = void*;
  using Event = void*;
  static constexpr int kCaptureModeRelaxed = 2;

  int (*begin_capture)(Stream, int mode);
  int (*end_capture)(Stream, GraphHandle*);
  int (*instantiate)(GraphHandle* executable, GraphHandle, unsigned long long flags);
  int (*launch)(GraphHandle executable, Stream);
  int (*destroy_graph)(GraphHandle);
  int (*destroy_executable)(GraphHandle);
  int (*create_event)(Event*);
  int (*destroy_event)(Event);
  int (*record_event)(Event, Stream);
  int (*synchronize_event)(Event);
  int (*elapsed_ms)(float*, Event, Event);
  const char* (*error_text)(int);

  CudaRuntime() {
    find(begin_capture, "cudaStreamBeginCapture");
    find(end_capture, "cudaStreamEndCapture");
    find(instantiate, "cudaGraphInstantiate");
    find(launch, "cudaGraphLaunch");
    find(destroy_graph, "cudaGraphDestroy");
    find(destroy_executable, "cudaGraphExecDestroy");
    find(create_event, "cudaEventCreate");
    find(destroy_event, "cudaEventDestroy");
    find(record_event, "cudaEventRecord");
    find(synchronize_event, "cudaEventSynchronize");
    find(elapsed_ms, "cudaEventElapsedTime");
    find(error_text, "cudaGetErrorString");
  }

  void check(int error, const char* what) const {
    if (error != 0) {
      throw EnvironmentError(fmt::format("{}: {} (CUDA error {})", what, error_text(error), error));
    }
  }

 private:
  template <typename Function>
  static void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    if (function == nullptr) {
      throw EnvironmentError(fmt::format("LibTorch has loaded no CUDA runtime with {}", name));
    }
  }
};

/// The folder that libtorch_cpu was loaded from.
std::filesystem::path libtorch_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&at::get_num_threads), &info) == 0) {
    throw EnvironmentError("cannot tell where libtorch_cpu was loaded from");
  }
  return std::filesystem::path(info.dli_fname).parent_path();
}

/// LibTorch before 2.10 cannot tell, and has then no CUDA here either.
template <typename Guard>
void* native_stream(const Guard& guard, const c10::Stream& stream) {
  if constexpr (requires { guard.getStreamNativeHandle(stream); }) {
    return guard.getStreamNativeHandle(stream);
  } else {
    throw EnvironmentError("recording a CUDA graph needs LibTorch 2.10 or later");
  }
}

}  // namespace

void load_libtorch_cuda() {
  const std::filesystem::path library = libtorch_folder() / "libtorch_cuda.so";
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw EnvironmentError(fmt::format("cannot load LibTorch's CUDA operators: {}", dlerror()));
  }
  if (!at::globalContext().hasCUDA()) {
    throw EnvironmentError("LibTorch finds no GPU");
  }
}

struct CapturedSequence::Graph {
  CudaRuntime cuda;
  c10::impl::VirtualGuardImpl guard{c10::DeviceType::CUDA};
  c10::Stream stream = guard.getStreamFromGlobalPool(guard.getDevice());
  CudaRuntime::Stream native = native_stream(guard, stream);
  CudaRuntime::GraphHandle executable = nullptr;
  CudaRuntime::Event begin = nullptr;
  CudaRuntime::Event end = nullptr;

  void record(const std::function<void()>& work) {
    CudaRuntime::GraphHandle graph = nullptr;
    // Relaxed: LibTorch's allocator may have to ask for more memory meanwhile.
    cuda.check(
        cuda.begin_capture(native, CudaRuntime::kCaptureModeRelaxed), "starting a recording"
    );
    work();
    cuda.check(cuda.end_capture(native, &graph), "recording LibTorch's step");
    const int error = cuda.instantiate(&executable, graph, 0);
    cuda.destroy_graph(graph);
    cuda.check(error, "building a CUDA graph");
    cuda.check(cuda.create_event(&begin), "creating an event");
    cuda.check(cuda.create_event(&end), "creating an event");
  }
};

CapturedSequence::CapturedSequence(const std::function<void()>& work, int num_warm_ups)
    : graph_(std::make_unique<Graph>()) {
  // The data was brought there on another stream.
  graph_->guard.synchronizeStream(graph_->guard.getStream(graph_->guard.getDevice()));
  const c10::StreamGuard on_stream(graph_->stream);
  for (int i = 0; i < num_warm_ups; ++i) {
    work();
  }
  graph_->guard.synchronizeStream(graph_->stream);
  graph_->record(work);
}

CapturedSequence::~CapturedSequence() {
  graph_->cuda.destroy_event(graph_->begin);
  graph_->cuda.destroy_event(graph_->end);
  graph_->cuda.destroy_executable(graph_->executable);
}

double CapturedSequence::time_ns(int count) {
  const CudaRuntime& cuda = graph_->cuda;
  cuda.check(cuda.record_event(graph_->begin, graph_->native), "recording an event");
  for (int i = 0; i < count; ++i) {
    cuda.check(cuda.launch(graph_->executable, graph_->native), "replaying LibTorch's step");
  }
  cuda.check(cuda.record_event(graph_->end, graph_->native), "recording an event");
  cuda.check(cuda.synchronize_event(graph_->end), "replaying LibTorch's step");
  float elapsed_ms = 0.0F;
  cuda.check(cuda.elapsed_ms(&elapsed_ms, graph_->begin, graph_->end), "reading an event");
  constexpr double kNsPerMs = 1e6;
  return static_cast<double>(elapsed_ms) * kNsPerMs;
}

}  // namespace whet
