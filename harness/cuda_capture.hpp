#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "timing/timed_sequence.hpp"

namespace whet {

/// Loads LibTorch's CUDA operators from beside its CPU library. Call before any other use of
/// LibTorch. Throws EnvironmentError with the loader's text, or when there is no GPU.
void load_libtorch_cuda();

/// LibTorch work on one GPU recorded as a CUDA graph, timed by replaying it. The graph keeps using
/// the memory that the work had while it was recorded: between recording and the last replay
/// nothing else may allocate on that GPU.
class CapturedSequence final : public TimedSequence {
 public:
  /// Runs `work` `num_warm_ups` times, then records it, all on a stream of its own. Throws
  /// EnvironmentError with CUDA's text.
  CapturedSequence(const std::function<void()>& work, int num_warm_ups);
  ~CapturedSequence() override;

  double time_ns(int count) override;
  TimingConditions conditions() override { return {}; }

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace whet
