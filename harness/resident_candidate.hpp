#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/launch_plan.hpp"
#include "harness/reference_bundle.hpp"
#include "ir/workload.hpp"
#include "jit/executor.hpp"
#include "jit/step_instance.hpp"

namespace whet {

/// A candidate in a worker: its kernel with tensors and a workspace of its own, so that no
/// candidate can hide another's fault. Every tensor lies between guard bytes; inputs are a ring of
/// the resident batches, of which step s reads batch s % num_batches. Methods throw DeviceFault.
class ResidentCandidate {
 public:
  /// `executor` and `workload` must outlive the object.
  ResidentCandidate(
      Executor& executor,
      const Workload& workload,
      const std::filesystem::path& artifact,
      const LaunchPlan& plan
  );
  ~ResidentCandidate();
  ResidentCandidate(const ResidentCandidate&) = delete;
  ResidentCandidate& operator=(const ResidentCandidate&) = delete;

  const LaunchPlan& plan() const { return kernel_->plan(); }
  int steps_per_launch() const { return kernel_->plan().steps_per_launch; }

  /// Inputs, scalars and state as in the bundle; outputs and workspace filled with `poison`; guards
  /// laid.
  void reset(const ReferenceBundle& bundle, unsigned char poison);
  /// State and place in the ring as of the last reset, without touching anything else but the
  /// control words.
  void restore_state();

  /// Launches the steps that begin with `step`, and waits.
  void launch(int step);
  /// The launches that do steps 0 .. num_steps - 1; `num_steps` is a multiple of
  /// steps_per_launch().
  std::vector<StepLaunch> launches(int num_steps) const;
  /// The place of the barrier that a block gave up at, if one did; waits for the launches.
  std::optional<std::uint32_t> hang_place() { return instance_->hang_place(); }

  /// What the last launch of a profile build stamped.
  std::vector<std::uint64_t> stamps() const { return instance_->stamps(); }

  /// State and outputs now, `step` being the number of steps done.
  Snapshot snapshot(int step) const;
  /// The losses of the last launch, oldest first; empty when the loss is not an output.
  std::vector<double> last_losses() const;
  /// What was written that must not be: an input or scalar, or the guard of a tensor.
  std::optional<std::string> damage() const;

 private:
  /// One argument's memory: guard, payload, guard.
  struct Block {
    void* memory = nullptr;
    void* pristine = nullptr;  ///< State: device copy of the payload at the last reset
    std::size_t payload_bytes = 0;
    std::vector<std::uint8_t> image;  ///< what the last reset uploaded
  };

  const TensorDesc& desc(const KernelArgument& argument) const;
  std::size_t num_entries(const KernelArgument& argument) const;
  void release() noexcept;
  void fill_image(
      const KernelArgument& argument,
      const ReferenceBundle& bundle,
      unsigned char poison,
      Block& block
  ) const;
  /// Entry `entry_idx` of an argument as it is now.
  HostTensor read_entry(std::size_t argument_idx, std::size_t entry_idx) const;

  Executor& executor_;
  const Workload& workload_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::vector<Block> blocks_;  ///< one for each of the plan's arguments
  std::unique_ptr<StepInstance> instance_;
};

}  // namespace whet
