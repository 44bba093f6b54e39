#pragma once

#include <cstddef>
#include <vector>

#include "harness/libtorch_walk.hpp"
#include "harness/reference_bundle.hpp"
#include "timing/timed_sequence.hpp"

namespace whet {

/// LibTorch eager as a peer: forward, backward and an in-place update, as a training loop in C++
/// would write them, over the resident batches. It evaluates what the workload says and no more: no
/// f64, no intercepted ops, no outputs copied.
class EagerPeer final : public TimedSequence {
 public:
  /// `workload` must outlive the object. `num_steps` is what one repetition does.
  EagerPeer(
      const Workload& workload, const ReferenceBundle& data, at::Device device, int num_steps
  );

  /// State and batch as at the start.
  void restore();
  /// One step on the next batch.
  void step();
  /// Waits for what was asked of the device.
  void synchronize() const;

  double time_ns(int count) override;
  TimingConditions conditions() override { return {}; }

 private:
  void train(std::vector<at::Tensor> values);
  void walk_step(std::vector<at::Tensor> values);

  const Workload& workload_;
  const Program& program_;  ///< the forward part, or the whole step
  bool trains_;             ///< by LibTorch's autograd
  at::Device device_;
  int num_steps_;
  double learning_rate_ = 0.0;
  std::vector<at::Tensor> initial_state_;
  std::vector<at::Tensor> state_;
  std::vector<std::vector<at::Tensor>>
      leaves_;  ///< for each batch, the program's values but results
  std::size_t batch_idx_ = 0;
};

}  // namespace whet
