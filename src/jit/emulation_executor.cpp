#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "jit/argument_block.hpp"
#include "jit/emulation_machine.hpp"
#include "jit/emulation_memory.hpp"
#include "jit/executor.hpp"

namespace whet {
namespace {

struct CloseLibrary {
  void operator()(void* library) const noexcept {
    if (dlclose(library) != 0) {
      fmt::print(stderr, "whet: cannot unload an emulated kernel: {}\n", dlerror());
    }
  }
};

/// A kernel's shared object.
class EmulatedKernel : public LoadedKernel {
 public:
  EmulatedKernel(const std::filesystem::path& artifact, const LaunchPlan& plan)
      : plan_(plan), library_(dlopen(artifact.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) {
      throw DeviceFault(Status::LaunchFailed, fmt::format("cannot load the kernel: {}", dlerror()));
    }
    const std::string symbol = plan.entry + "_emulated";
    void* entry = dlsym(library_.get(), symbol.c_str());
    if (entry == nullptr) {
      throw DeviceFault(
          Status::LaunchFailed, fmt::format("{} does not export {}", artifact.string(), symbol)
      );
    }
    entry_ = reinterpret_cast<EmulatedEntry>(entry);
  }
  const LaunchPlan& plan() const override { return plan_; }
  EmulatedEntry entry() const { return entry_; }

 private:
  LaunchPlan plan_;
  std::unique_ptr<void, CloseLibrary> library_;
  EmulatedEntry entry_ = nullptr;
};

class EmulatedReplay : public Replay {
 public:
  explicit EmulatedReplay(std::vector<StepLaunch> launches_) : launches(std::move(launches_)) {}
  std::vector<StepLaunch> launches;
};

/// Launches run at once, to their end, so that a fault names the launch that made it.
class EmulatedExecutor : public Executor {
 public:
  explicit EmulatedExecutor(const EmulationOptions& options)
      : options_(options), machine_(options) {}

  std::string description() const override {
    switch (options_.order) {
      case EmulationOptions::Order::Forward:
        return "emulation, threads in forward order";
      case EmulationOptions::Order::Reverse:
        return "emulation, threads in reverse order";
      case EmulationOptions::Order::Random:
        return fmt::format("emulation, threads in random order of seed {}", options_.seed);
    }
    return "emulation";
  }

  void* allocate(std::size_t bytes) override {
    try {
      return memory_.allocate(bytes, fmt::format("buffer {} of {} bytes", num_buffers_++, bytes))
          .begin;
    } catch (const std::bad_alloc&) {
      throw DeviceFault(Status::OutOfMemory, fmt::format("cannot allocate {} bytes", bytes));
    }
  }

  void release(void* memory) noexcept override {
    if (memory != nullptr && !memory_.release(memory)) {
      fmt::print(stderr, "whet: cannot release {}: the emulation did not allocate it\n", memory);
    }
  }

  void upload(void* to, const void* from, std::size_t bytes) override {
    check_range(to, bytes);
    std::memcpy(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    check_range(from, bytes);
    std::memcpy(to, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    check_range(to, bytes);
    check_range(from, bytes);
    std::memmove(to, from, bytes);
  }
  void fill(void* to, unsigned char value, std::size_t bytes) override {
    check_range(to, bytes);
    std::memset(to, value, bytes);
  }

  std::unique_ptr<LoadedKernel> load(const std::filesystem::path& artifact, const LaunchPlan& plan)
      override {
    return std::make_unique<EmulatedKernel>(artifact, plan);
  }

  void launch(const StepLaunch& launch) override {
    const auto* kernel = dynamic_cast<const EmulatedKernel*>(launch.kernel);
    WHET_CHECK(kernel != nullptr, "a kernel of another executor");
    const LaunchPlan& plan = kernel->plan();
    const std::vector<std::byte> arguments = argument_block(launch.arguments, plan);
    const EmulatedLaunch grid = {
        .entry = kernel->entry(),
        .arguments = arguments.data(),
        .argument_bytes = arguments.size(),
        .blocks = plan.blocks,
        .threads = plan.threads,
        .shared_bytes = plan.dynamic_shared_bytes,
        .cooperative = plan.cooperative,
        .cluster = plan.cluster,
    };
    const std::optional<EmulationFault> fault = machine_.run(grid, &memory_);
    const std::optional<std::string> overrun = memory_.check_guards();
    if (fault) {
      throw DeviceFault(fault->status, name_arguments(launch, fault->detail));
    }
    if (overrun) {
      throw DeviceFault(Status::Crashed, name_arguments(launch, *overrun));
    }
  }

  void synchronize() override {
    if (const std::optional<std::string> overrun = memory_.check_guards()) {
      throw DeviceFault(Status::Crashed, *overrun);
    }
  }

  std::unique_ptr<Replay> record(const std::vector<StepLaunch>& launches) override {
    return std::make_unique<EmulatedReplay>(launches);
  }

  void replay(Replay& replay) override {
    auto* recorded = dynamic_cast<EmulatedReplay*>(&replay);
    WHET_CHECK(recorded != nullptr, "a recording of another executor");
    for (const StepLaunch& step : recorded->launches) {
      launch(step);
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

  Conditions conditions() override { return {}; }

 private:
  void check_range(const void* begin, std::size_t bytes) const {
    const EmulatedRegion* region = memory_.find(begin);
    WHET_CHECK(
        bytes == 0 || (region != nullptr && region->contains(begin, bytes)),
        "{} bytes at {} are not inside one buffer",
        bytes,
        begin
    );
  }

  // A fault speaks of buffers; the reader knows the kernel's arguments.
  std::string name_arguments(const StepLaunch& launch, std::string detail) const {
    const auto add = [&](const void* memory, const std::string& argument) {
      const EmulatedRegion* region = memory_.find(memory);
      if (region != nullptr && detail.find(region->name) != std::string::npos) {
        detail += fmt::format(" ({} is {})", region->name, argument);
      }
    };
    for (std::size_t i = 0; i < launch.arguments.tensors.size(); ++i) {
      add(launch.arguments.tensors[i], fmt::format("argument {}", i));
    }
    add(launch.arguments.workspace, "the workspace");
    return detail;
  }

  EmulationOptions options_;
  EmulatedMemory memory_;
  EmulationMachine machine_;
  int num_buffers_ = 0;
};

}  // namespace

std::unique_ptr<Executor> make_emulated_executor(const EmulationOptions& options) {
  return std::make_unique<EmulatedExecutor>(options);
}

}  // namespace whet
