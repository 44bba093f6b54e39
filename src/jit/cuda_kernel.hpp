#pragma once

#include <string>

#include "jit/cuda_context.hpp"
#include "jit/executor.hpp"

namespace whet {

/// A cubin's kernel in the driver, checked against its plan and the device.
class CudaKernel : public LoadedKernel {
 public:
  /// Throws DeviceFault (LaunchFailed) when the driver refuses the cubin, when the kernel takes
  /// other arguments than the plan says, and when a block, or all blocks of a cooperative grid at
  /// once, do not fit the device.
  CudaKernel(const SharedContext& cuda, const std::string& cubin, const LaunchPlan& plan);

  const LaunchPlan& plan() const override { return plan_; }
  cuda::FunctionObject* function() const { return function_; }

 private:
  void check_fits(const CudaContext& cuda) const;

  LaunchPlan plan_;
  Owned<cuda::LibraryObject> library_;
  cuda::FunctionObject* function_ = nullptr;
};

}  // namespace whet
