#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "artifact/launch_plan.hpp"
#include "evaluation/evaluation.hpp"

namespace whet {

/// The argument block of a launch (see LaunchPlan), before it is laid out for a target.
struct StepArguments {
  std::vector<void*> tensors;
  void* workspace = nullptr;
  std::uint32_t ring_length = 1;
  std::uint32_t first_batch = 0;
  std::uint32_t spin_limit = 0;  ///< polls of a barrier before a block gives up
  bool refresh = false;          ///< makes the workspace fit the state, instead of a step
};

/// A device said no, or a kernel did something that ends this process's use of it.
class DeviceFault : public std::runtime_error {
 public:
  DeviceFault(Status status_, const std::string& detail)
      : std::runtime_error(detail), status(status_) {}
  Status status;  ///< LaunchFailed, Crashed, OutOfMemory, TimedOut or BarrierHang
};

/// Loaded code, immutable, shareable between instances.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  virtual const LaunchPlan& plan() const = 0;
};

/// A recorded sequence of launches: a CUDA graph, or a list on the CPU.
class Replay {
 public:
  virtual ~Replay() = default;
};

/// Conditions at the time of a sample; 0 where the device does not say.
struct Conditions {
  double clock_mhz = 0.0;
  double temperature_c = 0.0;
  bool throttled = false;
};

/// One launch of a sequence.
struct StepLaunch {
  const LoadedKernel* kernel = nullptr;
  StepArguments arguments;
};

/// A device that runs kernels: the host's CPU, a CUDA GPU, or the emulation. Not thread-safe.
/// Methods throw DeviceFault when the device or a kernel fails.
class Executor {
 public:
  virtual ~Executor() = default;
  /// "NVIDIA H200 (GPU-…), driver 580.159.04", "AMD EPYC, 2 threads".
  virtual std::string description() const = 0;

  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, unsigned char value, std::size_t bytes) = 0;

  virtual std::unique_ptr<LoadedKernel> load(
      const std::filesystem::path& artifact, const LaunchPlan& plan
  ) = 0;
  /// Enqueues one launch.
  virtual void launch(const StepLaunch& launch) = 0;
  virtual void synchronize() = 0;
  /// Captures a sequence for replay; arguments are fixed at capture.
  virtual std::unique_ptr<Replay> record(const std::vector<StepLaunch>& launches) = 0;
  /// Enqueues the recorded sequence.
  virtual void replay(Replay& replay) = 0;
  /// Device time of `count` back-to-back replays, in ns, waiting for the end.
  virtual double time_replays_ns(Replay& replay, int count) = 0;
  virtual Conditions conditions() = 0;
};

/// The host's CPU with a persistent pool of `num_threads` threads, or as many as there are allowed
/// cores if that is fewer or `num_threads` is 0. Kernels of more blocks are refused by load().
std::unique_ptr<Executor> make_cpu_executor(int num_threads);

/// A GPU by CUDA ordinal or UUID ("": the first), for use by the calling thread only. Throws
/// EnvironmentError: no driver, no device, and what to do; UserError if `device` is neither.
std::unique_ptr<Executor> make_cuda_executor(const std::string& device);

/// Order in which the emulation runs threads between synchronization points.
struct EmulationOptions {
  enum class Order { Forward, Reverse, Random };
  Order order = Order::Forward;
  std::uint64_t seed = 0;
};
std::unique_ptr<Executor> make_emulated_executor(const EmulationOptions& options);

}  // namespace whet
