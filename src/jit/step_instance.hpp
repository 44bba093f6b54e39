#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/executor.hpp"

namespace whet {

/// A kernel bound to tensors, owning its workspace. One launch in flight at a time.
/// After a barrier hang it refuses further launches until refresh().
class StepInstance {
 public:
  /// `tensors` in the order of the plan's arguments; they must outlive the instance.
  StepInstance(Executor& executor, const LoadedKernel& kernel, std::vector<void*> tensors);
  ~StepInstance();
  StepInstance(const StepInstance&) = delete;
  StepInstance& operator=(const StepInstance&) = delete;

  /// The arguments of the launch that starts with batch `first_batch` of a ring of `ring_length`,
  /// counted round and round. A kernel that counts batches goes on from the launch before, whatever
  /// `first_batch` is: the same arguments, launched or replayed again, take the next batches.
  StepLaunch arguments(std::uint32_t ring_length, std::uint32_t first_batch) const;
  /// Enqueues one launch. Throws DeviceFault (BarrierHang) once hang_place() has seen a hang;
  /// before that a hung kernel ends at once by itself.
  void launch(std::uint32_t ring_length, std::uint32_t first_batch);
  /// Waits, then reads the status word: nothing, or the place at which a block left a barrier.
  std::optional<std::uint32_t> hang_place();
  /// Makes the workspace fit the state: after others wrote the state or the workspace, or after a
  /// hang. Until then steps may go on from copies of the old state. A kernel that counts batches
  /// keeps its place in the ring, except after a hang: then it is at batch 0.
  void refresh();
  /// Has the next launch of a kernel that counts batches begin with batch `next_batch`, which is
  /// below the ring's length; a new instance begins with 0. Waits for launches before.
  void seek(std::uint32_t next_batch);
  /// The stamps of the last launch of a profile build, see StampPlan; waits for the launch.
  std::vector<std::uint64_t> stamps() const;
  /// Fills the workspace behind the control words, so that a read of stale bytes shows; a kernel
  /// that counts batches is at batch 0 again.
  void poison(unsigned char value);

  /// Polls of a barrier before a block gives up: about two seconds on an H200.
  static constexpr std::uint32_t kDefaultSpinLimit = 1u << 23;
  void set_spin_limit(std::uint32_t limit) { spin_limit_ = limit; }

 private:
  Executor& executor_;
  const LoadedKernel& kernel_;
  std::vector<void*> tensors_;
  void* workspace_ = nullptr;
  std::uint32_t spin_limit_ = kDefaultSpinLimit;
  std::optional<std::uint32_t> hang_place_;  ///< as last seen
};

}  // namespace whet
