// The CPU target: a kernel is `extern "C" void ENTRY(const void* arguments, int block, int
// num_blocks, void* scratch)`, called once by each thread of the pool. Its barriers are its own
// code, on control word 0 of the workspace. Launches run to their end at once.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "jit/argument_block.hpp"
#include "jit/executor.hpp"
#include "jit/shared_library.hpp"
#include "jit/thread_pool.hpp"

namespace whet {
namespace {

using HostEntry = void(const void* arguments, int block, int num_blocks, void* scratch);

// A cache line, and the widest vector.
constexpr std::size_t kAlignment = 64;

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using HostMemory = std::unique_ptr<void, Free>;

HostMemory allocate_host(std::size_t bytes) {
  // Linux grants more than there is, and kills whoever uses it.
  const std::size_t physical_bytes = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
                                     static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + kAlignment - 1) & ~(kAlignment - 1);
  HostMemory memory(bytes > physical_bytes ? nullptr : std::aligned_alloc(kAlignment, rounded));
  if (!memory) {
    throw DeviceFault(
        Status::OutOfMemory,
        fmt::format("cannot allocate {} bytes: this machine has {}", bytes, physical_bytes)
    );
  }
  return memory;
}

class HostKernel : public LoadedKernel {
 public:
  HostKernel(const std::filesystem::path& artifact, const LaunchPlan& plan)
      : plan_(plan), library_(open(artifact)) {
    if (!library_.find(plan_.entry.c_str(), entry_)) {
      throw DeviceFault(
          Status::LaunchFailed, fmt::format("{} does not export {}", artifact.string(), plan_.entry)
      );
    }
  }
  const LaunchPlan& plan() const override { return plan_; }
  HostEntry* entry() const { return entry_; }

 private:
  static SharedLibrary open(const std::filesystem::path& artifact) {
    std::string error;
    // A name without a slash would be searched in the system's folders.
    const std::string path = std::filesystem::absolute(artifact).string();
    std::optional<SharedLibrary> library =
        SharedLibrary::open(path, SharedLibrary::Lifetime::Handle, error);
    if (!library) {
      throw DeviceFault(Status::LaunchFailed, fmt::format("cannot load the kernel: {}", error));
    }
    return std::move(*library);
  }

  LaunchPlan plan_;
  SharedLibrary library_;
  HostEntry* entry_ = nullptr;
};

/// A launch with nothing left to look up.
struct HostLaunch {
  HostEntry* entry = nullptr;
  int blocks = 1;
  std::vector<std::byte> arguments;
};

class HostReplay : public Replay {
 public:
  std::vector<HostLaunch> launches;
};

/// "AMD EPYC 9B14", where /proc/cpuinfo has it.
std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "CPU of unknown model";
}

class CpuExecutor : public Executor {
 public:
  explicit CpuExecutor(int num_threads)
      : pool_(num_threads), scratch_(static_cast<std::size_t>(num_threads)) {}

  std::string description() const override {
    return fmt::format("{}, {} thread{}", cpu_model(), pool_.size(), pool_.size() == 1 ? "" : "s");
  }

  void* allocate(std::size_t bytes) override { return allocate_host(bytes).release(); }
  void release(void* memory) noexcept override { std::free(memory); }
  void upload(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) {
      std::memmove(to, from, bytes);
    }
  }
  void fill(void* to, unsigned char value, std::size_t bytes) override {
    if (bytes != 0) {
      std::memset(to, value, bytes);
    }
  }

  std::unique_ptr<LoadedKernel> load(const std::filesystem::path& artifact, const LaunchPlan& plan)
      override {
    if (plan.blocks > pool_.size()) {
      throw DeviceFault(
          Status::LaunchFailed,
          fmt::format(
              "the kernel needs {} threads that run at once, and the pool has {}",
              plan.blocks,
              pool_.size()
          )
      );
    }
    auto kernel = std::make_unique<HostKernel>(artifact, plan);
    if (plan.dynamic_shared_bytes > scratch_bytes_) {
      for (HostMemory& scratch : scratch_) {
        scratch = allocate_host(plan.dynamic_shared_bytes);
      }
      scratch_bytes_ = plan.dynamic_shared_bytes;
    }
    return kernel;
  }

  void launch(const StepLaunch& launch) override { run(prepare(launch)); }
  void synchronize() override {}

  std::unique_ptr<Replay> record(const std::vector<StepLaunch>& launches) override {
    auto recorded = std::make_unique<HostReplay>();
    for (const StepLaunch& launch : launches) {
      recorded->launches.push_back(prepare(launch));
    }
    return recorded;
  }

  void replay(Replay& replay) override {
    auto* recorded = dynamic_cast<HostReplay*>(&replay);
    WHET_CHECK(recorded != nullptr, "a recording of another executor");
    for (const HostLaunch& launch : recorded->launches) {
      run(launch);
    }
  }

  double time_replays_ns(Replay& recorded, int count) override {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      replay(recorded);
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
        .count();
  }

  Conditions conditions() override {
    Conditions conditions;
    std::ifstream clock_khz(
        fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", ::sched_getcpu())
    );
    double value = 0.0;
    if (clock_khz >> value) {
      conditions.clock_mhz = value / 1000.0;
    }
    return conditions;
  }

 private:
  static HostLaunch prepare(const StepLaunch& launch) {
    const auto* kernel = dynamic_cast<const HostKernel*>(launch.kernel);
    WHET_CHECK(kernel != nullptr, "a kernel of another executor");
    return {
        .entry = kernel->entry(),
        .blocks = kernel->plan().blocks,
        .arguments = argument_block(launch.arguments, kernel->plan()),
    };
  }

  void run(const HostLaunch& launch) {
    if (launch.blocks == 1) {
      launch.entry(launch.arguments.data(), 0, 1, scratch_[0].get());
      return;
    }
    struct Context {
      const HostLaunch& launch;
      const std::vector<HostMemory>& scratch;
    } context{launch, scratch_};
    const auto block = [](void* pointer, int thread) {
      const auto& [step, scratch] = *static_cast<const Context*>(pointer);
      step.entry(
          step.arguments.data(),
          thread,
          step.blocks,
          scratch[static_cast<std::size_t>(thread)].get()
      );
    };
    pool_.run(launch.blocks, block, &context);
  }

  ThreadPool pool_;
  std::vector<HostMemory> scratch_;  ///< of one block each, as large as any loaded kernel needs
  std::size_t scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Executor> make_cpu_executor(int num_threads) {
  const int num_cores = num_allowed_cores();
  return std::make_unique<CpuExecutor>(
      num_threads <= 0 ? num_cores : std::min(num_threads, num_cores)
  );
}

}  // namespace whet
