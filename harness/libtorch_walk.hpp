#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <vector>

#include "harness/host_tensor.hpp"
#include "ir/workload.hpp"

namespace whet {

/// LibTorch's name of a dtype.
at::ScalarType scalar_type(DType dtype);

/// A copy of a host tensor, dense, on the CPU; and back, in `dtype`.
at::Tensor to_libtorch(const HostTensor& tensor);
HostTensor to_host(const at::Tensor& tensor, DType dtype);

/// Which precision the values of a walk have.
enum class WalkDType {
  Declared,  ///< as the Program says
  AllF64,    ///< every floating value is f64: nothing is rounded
};

/// A plain walk: one LibTorch call an op, in order. `values` has an element for each of the
/// program's values, of which inputs, scalars and state are set; the walk sets the rest.
void walk(const Program& program, std::vector<at::Tensor>& values, WalkDType dtypes);

/// The tensors of one step, in the order of the workload's step program.
struct StepInputs {
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> scalars;
  std::vector<at::Tensor> state;
};

struct StepResults {
  std::vector<at::Tensor> state;
  std::vector<at::Tensor> outputs;
  std::optional<at::Tensor> loss;
};

/// One step, out of place. The forward form: a walk over the forward ops, gradients by LibTorch's
/// autograd, the optimizer by plain tensor ops. A program without gradients, or one that arrives
/// differentiated: a walk over the whole step.
StepResults run_step(const Workload& workload, const StepInputs& from, WalkDType dtypes);

}  // namespace whet
