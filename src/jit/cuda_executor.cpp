// All work of an executor goes through one stream, so that launches and copies keep their order.
#include <array>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "jit/argument_block.hpp"
#include "jit/cuda_context.hpp"
#include "jit/cuda_kernel.hpp"
#include "jit/executor.hpp"
#include "jit/nvml.hpp"

namespace whet {
namespace {

cuda::DevicePointer device_pointer(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

/// A launch with nothing left to look up.
struct PreparedLaunch {
  const CudaKernel* kernel = nullptr;
  std::vector<std::byte> parameter;    ///< the kernel's one parameter: the argument block
  std::optional<DeviceMemory> memory;  ///< or a pointer to it, when it is too large for a parameter
};

class CudaReplay : public Replay {
 public:
  CudaReplay(Owned<cuda::GraphExecObject> graph, std::vector<PreparedLaunch> launches)
      : graph_(std::move(graph)), launches_(std::move(launches)) {}
  cuda::GraphExecObject* graph() const { return graph_.get(); }

 private:
  Owned<cuda::GraphExecObject> graph_;
  std::vector<PreparedLaunch> launches_;  ///< whose memory the graph reads
};

class CudaExecutor : public Executor {
 public:
  explicit CudaExecutor(const std::string& device)
      : cuda_(std::make_shared<const CudaContext>(device)),
        driver_(cuda_->driver),
        nvml_(Nvml::open()),
        stream_(make_stream()),
        start_(make_event()),
        end_(make_event()) {}

  std::string description() const override {
    const std::string version = nvml_ ? nvml_->driver_version() : "";
    return fmt::format(
        "{} ({}), driver {}",
        cuda_->device.name,
        cuda_->device.uuid,
        version.empty() ? "of unknown version" : version
    );
  }

  void* allocate(std::size_t bytes) override { return DeviceMemory(cuda_, bytes).release(); }
  void release(void* memory) noexcept override {
    if (memory != nullptr) {
      report(driver_, driver_.free(device_pointer(memory)), "cuMemFree");
    }
  }
  void upload(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) {
      check(
          driver_,
          driver_.upload(device_pointer(to), from, bytes, stream_.get()),
          "cuMemcpyHtoDAsync"
      );
      wait();
    }
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) {
      check(
          driver_,
          driver_.download(to, device_pointer(from), bytes, stream_.get()),
          "cuMemcpyDtoHAsync"
      );
      wait();
    }
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) {
      check(
          driver_,
          driver_.copy(device_pointer(to), device_pointer(from), bytes, stream_.get()),
          "cuMemcpyDtoDAsync"
      );
    }
  }
  void fill(void* to, unsigned char value, std::size_t bytes) override {
    if (bytes != 0) {
      check(
          driver_, driver_.fill(device_pointer(to), value, bytes, stream_.get()), "cuMemsetD8Async"
      );
    }
  }

  std::unique_ptr<LoadedKernel> load(const std::filesystem::path& artifact, const LaunchPlan& plan)
      override {
    return std::make_unique<CudaKernel>(cuda_, read_file(artifact), plan);
  }

  void launch(const StepLaunch& launch) override {
    PreparedLaunch prepared = prepare(launch);
    enqueue(prepared);
    if (prepared.memory) {
      in_flight_.push_back(std::move(*prepared.memory));
    }
  }

  void synchronize() override {
    wait();
    in_flight_.clear();
  }

  std::unique_ptr<Replay> record(const std::vector<StepLaunch>& launches) override {
    std::vector<PreparedLaunch> prepared;
    for (const StepLaunch& launch : launches) {
      prepared.push_back(prepare(launch));
    }
    const Owned<cuda::GraphObject> graph = capture(prepared);
    cuda::GraphExecObject* executable = nullptr;
    check(driver_, driver_.graph_instantiate(&executable, graph.get(), 0), "cuGraphInstantiate");
    Owned<cuda::GraphExecObject> owned(
        executable, {cuda_, &CudaDriver::graph_exec_destroy, "cuGraphExecDestroy"}
    );
    check(driver_, driver_.graph_upload(executable, stream_.get()), "cuGraphUpload");
    return std::make_unique<CudaReplay>(std::move(owned), std::move(prepared));
  }

  void replay(Replay& replay) override {
    auto* recorded = dynamic_cast<CudaReplay*>(&replay);
    WHET_CHECK(recorded != nullptr, "a recording of another executor");
    check(driver_, driver_.graph_launch(recorded->graph(), stream_.get()), "cuGraphLaunch");
  }

  double time_replays_ns(Replay& recorded, int count) override {
    check(driver_, driver_.event_record(start_.get(), stream_.get()), "cuEventRecord");
    for (int i = 0; i < count; ++i) {
      replay(recorded);
    }
    check(driver_, driver_.event_record(end_.get(), stream_.get()), "cuEventRecord");
    check(driver_, driver_.event_synchronize(end_.get()), "cuEventSynchronize");
    float elapsed_ms = 0.0f;
    check(
        driver_,
        driver_.event_elapsed_ms(&elapsed_ms, start_.get(), end_.get()),
        "cuEventElapsedTime"
    );
    return double{elapsed_ms} * 1e6;
  }

  Conditions conditions() override {
    return nvml_ ? nvml_->conditions(cuda_->device.uuid) : Conditions{};
  }

 private:
  Owned<cuda::StreamObject> make_stream() const {
    cuda::StreamObject* stream = nullptr;
    check(driver_, driver_.stream_create(&stream, cuda::kNonBlockingStream), "cuStreamCreate");
    return {stream, {cuda_, &CudaDriver::stream_destroy, "cuStreamDestroy"}};
  }
  Owned<cuda::EventObject> make_event() const {
    cuda::EventObject* event = nullptr;
    check(driver_, driver_.event_create(&event, 0), "cuEventCreate");
    return {event, {cuda_, &CudaDriver::event_destroy, "cuEventDestroy"}};
  }

  void wait() { check(driver_, driver_.stream_synchronize(stream_.get()), "cuStreamSynchronize"); }

  PreparedLaunch prepare(const StepLaunch& launch) {
    PreparedLaunch prepared;
    prepared.kernel = dynamic_cast<const CudaKernel*>(launch.kernel);
    WHET_CHECK(prepared.kernel != nullptr, "a kernel of another executor");
    const LaunchPlan& plan = prepared.kernel->plan();
    prepared.parameter = argument_block(launch.arguments, plan);
    if (plan.arguments_in_memory) {
      prepared.memory.emplace(cuda_, prepared.parameter.size());
      const cuda::DevicePointer pointer = prepared.memory->get();
      // From pageable memory: the bytes are taken before the call returns.
      check(
          driver_,
          driver_.upload(
              pointer, prepared.parameter.data(), prepared.parameter.size(), stream_.get()
          ),
          "cuMemcpyHtoDAsync"
      );
      const auto* bytes = reinterpret_cast<const std::byte*>(&pointer);
      prepared.parameter.assign(bytes, bytes + sizeof(pointer));
    }
    return prepared;
  }

  void enqueue(PreparedLaunch& launch) {
    const LaunchPlan& plan = launch.kernel->plan();
    std::array<cuda::LaunchAttribute, 3> attributes;
    unsigned num_attributes = 0;
    const auto set = [&](unsigned id) {
      attributes[num_attributes].id = id;
      attributes[num_attributes].value = 1;
      ++num_attributes;
    };
    if (plan.cooperative) {
      set(cuda::LaunchAttribute::kCooperative);
    }
    if (plan.cluster) {
      set(cuda::LaunchAttribute::kClusterDimension);
      unsigned* const dimension = attributes[num_attributes - 1].dimension;
      dimension[0] = static_cast<unsigned>(plan.blocks);
      dimension[1] = dimension[2] = 1;
    }
    if (plan.overlaps) {
      set(cuda::LaunchAttribute::kProgrammaticStreamSerialization);
    }
    cuda::LaunchConfig config;
    config.grid_x = static_cast<unsigned>(plan.blocks);
    config.block_x = static_cast<unsigned>(plan.threads);
    config.shared_bytes = static_cast<unsigned>(plan.dynamic_shared_bytes);
    config.stream = stream_.get();
    config.attributes = attributes.data();
    config.num_attributes = num_attributes;
    std::array<void*, 1> parameters = {launch.parameter.data()};
    check(
        driver_,
        driver_.launch(&config, launch.kernel->function(), parameters.data(), nullptr),
        fmt::format(
            "cuLaunchKernelEx of {} blocks of {} threads with {} bytes of shared memory",
            plan.blocks,
            plan.threads,
            plan.dynamic_shared_bytes
        )
    );
  }

  Owned<cuda::GraphObject> capture(std::vector<PreparedLaunch>& launches) {
    const auto end = [&](cuda::Result& result) -> Owned<cuda::GraphObject> {
      cuda::GraphObject* graph = nullptr;
      result = driver_.capture_end(stream_.get(), &graph);
      return {graph, {cuda_, &CudaDriver::graph_destroy, "cuGraphDestroy"}};
    };
    cuda::Result result = cuda::kSuccess;
    check(
        driver_,
        driver_.capture_begin(stream_.get(), cuda::kThreadLocalCapture),
        "cuStreamBeginCapture"
    );
    try {
      for (PreparedLaunch& launch : launches) {
        enqueue(launch);
      }
    } catch (...) {
      end(result);  // leaves the stream usable; the first error is the one that counts
      throw;
    }
    Owned<cuda::GraphObject> graph = end(result);
    check(driver_, result, "cuStreamEndCapture");
    return graph;
  }

  SharedContext cuda_;
  const CudaDriver& driver_;
  std::optional<Nvml> nvml_;
  Owned<cuda::StreamObject> stream_;
  Owned<cuda::EventObject> start_;
  Owned<cuda::EventObject> end_;
  std::vector<DeviceMemory> in_flight_;  ///< argument blocks of launches since the last wait
};

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(const std::string& device) {
  return std::make_unique<CudaExecutor>(device);
}

}  // namespace whet
