#include "harness/libtorch_walk.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

/// Evaluates one op after another on the values so far.
class Walker {
 public:
  Walker(const Program& program, std::vector<at::Tensor>& values, WalkDType dtypes)
      : program_(program), values_(values), dtypes_(dtypes) {}

  at::Tensor run(const Op& op) const {
    if (op.kind == OpKind::Mm || op.kind == OpKind::Addmm) {
      return product(op);
    }
    if (is_pointwise(op.kind)) {
      return pointwise(op);
    }
    if (is_reduction(op.kind)) {
      return reduction(op);
    }
    if (is_view(op.kind)) {
      return view(op);
    }
    return creation(op);
  }

 private:
  const at::Tensor& in(const Op& op, std::size_t i) const {
    return values_[static_cast<std::size_t>(op.inputs.at(i))];
  }

  at::ScalarType dtype_of(const Op& op) const {
    const DType declared = program_.value(op.output).dtype;
    return dtypes_ == WalkDType::AllF64 && is_compute_dtype(declared) ? at::kDouble
                                                                      : scalar_type(declared);
  }

  at::Tensor product(const Op& op) const {
    const OpAttributes& a = op.attributes;
    return op.kind == OpKind::Mm ? at::mm(in(op, 0), in(op, 1))
                                 : at::addmm(in(op, 0), in(op, 1), in(op, 2), a.beta, a.alpha);
  }

  at::Tensor pointwise(const Op& op) const {
    const OpAttributes& a = op.attributes;
    const bool one = op.inputs.size() == 1;
    switch (op.kind) {
      case OpKind::Add:
        return one ? at::add(in(op, 0), a.other, a.alpha) : at::add(in(op, 0), in(op, 1), a.alpha);
      case OpKind::Sub:
        return one ? at::sub(in(op, 0), a.other, a.alpha) : at::sub(in(op, 0), in(op, 1), a.alpha);
      case OpKind::Mul:
        return one ? at::mul(in(op, 0), a.other) : at::mul(in(op, 0), in(op, 1));
      case OpKind::Div:
        return one ? at::div(in(op, 0), a.other) : at::div(in(op, 0), in(op, 1));
      case OpKind::Neg:
        return at::neg(in(op, 0));
      case OpKind::Relu:
        return at::relu(in(op, 0));
      case OpKind::ThresholdBackward:
        return at::threshold_backward(in(op, 0), in(op, 1), a.other);
      case OpKind::Pow:
        return at::pow(in(op, 0), a.other);
      case OpKind::Cast:
        return in(op, 0).to(dtype_of(op));
      case OpKind::MseLossBackward:
        return at::mse_loss_backward(in(op, 0), in(op, 1), in(op, 2), at::Reduction::Mean);
      default:
        throw InternalError(fmt::format("no LibTorch call for {}", op_name(op.kind)));
    }
  }

  at::Tensor reduction(const Op& op) const {
    const OpAttributes& a = op.attributes;
    switch (op.kind) {
      case OpKind::Sum:
        return at::sum(in(op, 0), a.dims, a.keepdim);
      case OpKind::Mean:
        return at::mean(in(op, 0), a.dims, a.keepdim);
      default:
        return at::mse_loss(in(op, 0), in(op, 1), at::Reduction::Mean);
    }
  }

  at::Tensor view(const Op& op) const {
    const OpAttributes& a = op.attributes;
    switch (op.kind) {
      case OpKind::Transpose:
        return at::transpose(in(op, 0), a.dims.at(0), a.dims.at(1));
      case OpKind::Permute:
        return at::permute(in(op, 0), a.dims);
      case OpKind::Reshape:
        return at::reshape(in(op, 0), a.shape);
      case OpKind::Expand:
        return in(op, 0).expand(a.shape);
      case OpKind::Select:
        return at::select(in(op, 0), a.dims.at(0), a.index);
      default:
        return at::slice(in(op, 0), a.dims.at(0), a.start, a.end, a.step);
    }
  }

  at::Tensor creation(const Op& op) const {
    const OpAttributes& a = op.attributes;
    switch (op.kind) {
      case OpKind::Full:
        return at::full(a.shape, a.other, at::TensorOptions(dtype_of(op)).device(device()));
      case OpKind::SelectBackward:
        return at::select_backward(in(op, 0), a.shape, a.dims.at(0), a.index);
      case OpKind::SliceBackward:
        return at::slice_backward(in(op, 0), a.shape, a.dims.at(0), a.start, a.end, a.step);
      default:
        throw InternalError(fmt::format("no LibTorch call for {}", op_name(op.kind)));
    }
  }

  /// Where the walk's tensors are.
  at::Device device() const {
    for (const at::Tensor& value : values_) {
      if (value.defined()) {
        return value.device();
      }
    }
    return at::kCPU;
  }

  const Program& program_;
  const std::vector<at::Tensor>& values_;
  WalkDType dtypes_;
};

/// The values of a program with its leaves set.
std::vector<at::Tensor> leaf_values(const Program& program, const StepInputs& from) {
  std::vector<at::Tensor> values(program.values.size());
  const auto set = [&](ValueId id, const at::Tensor& tensor) {
    values[static_cast<std::size_t>(id)] = tensor;
  };
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    set(program.inputs[i].value, from.inputs.at(i));
  }
  for (std::size_t i = 0; i < program.scalars.size(); ++i) {
    set(program.scalars[i], from.scalars.at(i));
  }
  for (std::size_t i = 0; i < program.state.size(); ++i) {
    set(program.state[i].before, from.state.at(i));
  }
  return values;
}

/// The value that a workload file calls `name`.
ValueId find_value(const Program& program, const std::string& name) {
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    if (program.values[i].name == name) {
      return static_cast<ValueId>(i);
    }
  }
  throw InternalError(fmt::format("the forward part has no value {}", name));
}

StepResults run_whole_step(const Workload& workload, const StepInputs& from, WalkDType dtypes) {
  const at::NoGradGuard no_grad;
  const Program& step = workload.step;
  std::vector<at::Tensor> values = leaf_values(step, from);
  walk(step, values, dtypes);
  const auto at_id = [&](ValueId id) { return values[static_cast<std::size_t>(id)]; };
  StepResults results;
  for (const ProgramState& state : step.state) {
    results.state.push_back(at_id(state.after));
  }
  for (const ValueId id : step.outputs) {
    results.outputs.push_back(at_id(id));
  }
  if (step.loss) {
    results.loss = at_id(*step.loss);
  }
  return results;
}

/// Gradients of the loss by autograd, one a state tensor; zeros where the loss does not depend on
/// it.
std::vector<at::Tensor> gradients(const at::Tensor& loss, const std::vector<at::Tensor>& leaves) {
  std::vector<at::Tensor> found(leaves.size());
  if (loss.requires_grad()) {
    found = torch::autograd::grad({loss}, leaves, {}, {}, false, true);
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!found[i].defined()) {
      found[i] = at::zeros_like(leaves[i]);
    }
  }
  return found;
}

StepResults run_forward_form(const Workload& workload, const StepInputs& from, WalkDType dtypes) {
  const Program& forward = *workload.forward;
  StepInputs leaves = from;
  for (at::Tensor& tensor : leaves.state) {
    tensor = tensor.detach();
    tensor.requires_grad_(at::isFloatingType(tensor.scalar_type()));
  }
  std::vector<at::Tensor> values = leaf_values(forward, leaves);
  walk(forward, values, dtypes);
  const at::Tensor loss = values[static_cast<std::size_t>(forward.loss.value())];
  const std::vector<at::Tensor> grads = gradients(loss, leaves.state);

  const at::NoGradGuard no_grad;
  StepResults results;
  results.loss = loss.detach();
  for (std::size_t i = 0; i < grads.size(); ++i) {
    at::Tensor after = leaves.state[i].detach();
    if (workload.optimizer) {
      // Two roundings, as the step program declares: of the product and of the difference.
      const ValueId lr = find_value(forward, workload.optimizer->lr);
      const at::Tensor rate = values[static_cast<std::size_t>(lr)].to(grads[i].scalar_type());
      after = at::sub(after, at::mul(grads[i], rate));
    }
    results.state.push_back(after);
  }
  constexpr std::string_view kGradient = "grad:";
  for (const std::string& name : workload.output_names) {
    if (name.starts_with(kGradient)) {
      const ValueId id = find_value(forward, name.substr(kGradient.size()));
      const auto state = std::ranges::find(forward.state, id, &ProgramState::before);
      WHET_CHECK(state != forward.state.end(), "{} is no state", name);
      results.outputs.push_back(grads[static_cast<std::size_t>(state - forward.state.begin())]);
    } else {
      results.outputs.push_back(values[static_cast<std::size_t>(find_value(forward, name))].detach()
      );
    }
  }
  return results;
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return at::kDouble;
    case DType::F32:
      return at::kFloat;
    case DType::BF16:
      return at::kBFloat16;
    case DType::F16:
      return at::kHalf;
    case DType::I64:
      return at::kLong;
    case DType::I32:
      return at::kInt;
    case DType::Bool:
      return at::kBool;
  }
  throw InternalError("unknown dtype");
}

at::Tensor to_libtorch(const HostTensor& tensor) {
  at::Tensor result = at::empty(tensor.shape, scalar_type(tensor.dtype));
  WHET_CHECK(result.nbytes() == tensor.bytes.size(), "{} bytes", tensor.bytes.size());
  if (!tensor.bytes.empty()) {
    std::memcpy(result.data_ptr(), tensor.bytes.data(), tensor.bytes.size());
  }
  return result;
}

HostTensor to_host(const at::Tensor& tensor, DType dtype) {
  const at::Tensor dense = tensor.detach().to(at::kCPU).to(scalar_type(dtype)).contiguous();
  HostTensor result{.dtype = dtype, .shape = dense.sizes().vec(), .bytes = {}};
  const auto* bytes = static_cast<const std::uint8_t*>(dense.data_ptr());
  result.bytes.assign(bytes, bytes + dense.nbytes());
  return result;
}

void walk(const Program& program, std::vector<at::Tensor>& values, WalkDType dtypes) {
  const Walker walker(program, values, dtypes);
  for (const Op& op : program.ops) {
    values[static_cast<std::size_t>(op.output)] = walker.run(op);
  }
}

StepResults run_step(const Workload& workload, const StepInputs& from, WalkDType dtypes) {
  const bool differentiates = workload.forward && workload.forward->loss;
  return differentiates ? run_forward_form(workload, from, dtypes)
                        : run_whole_step(workload, from, dtypes);
}

}  // namespace whet
