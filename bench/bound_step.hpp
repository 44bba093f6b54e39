#pragma once

#include <memory>
#include <vector>

#include "ir/program.hpp"
#include "jit/compile.hpp"
#include "jit/executor.hpp"
#include "jit/step_instance.hpp"
#include "schedule/schedule.hpp"

namespace whet::bench {

/// The default configuration's schedule. Throws UserError if it is refused.
Schedule default_schedule(const Program& program, const DeviceLimits& limits);

/// The default configuration's text. Throws UserError if it is refused.
KernelSource default_source(const Program& program, const DeviceLimits& limits);

/// Compiles into `cache_folder`. Throws UserError with what the compiler said.
CompileOutcome compile_default(const KernelSource& source, const std::filesystem::path& folder);

/// A step in its default configuration, with tensors of small normal numbers and a ring of four
/// batches.
class BoundStep {
 public:
  BoundStep(Executor& executor, const Program& program, const DeviceLimits& limits);
  ~BoundStep();
  BoundStep(const BoundStep&) = delete;
  BoundStep& operator=(const BoundStep&) = delete;

  /// Starts one launch and waits for it.
  void launch();
  /// `num_launches` in a row, for replay.
  std::unique_ptr<Replay> record(int num_launches) const;
  int steps_per_launch() const { return kernel_->plan().steps_per_launch; }

 private:
  static constexpr std::uint32_t kRingLength = 4;

  void* allocate(const KernelArgument& argument, std::uint64_t stream);

  Executor& executor_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::vector<void*> tensors_;
  std::unique_ptr<StepInstance> instance_;
};

}  // namespace whet::bench
