// One walk over a Program serves all arithmetics, because the difference is made below it: a
// fallback kernel on a dispatch key between autograd and the backends sees every op that LibTorch
// runs, those of autograd's formulas and of its accumulation of gradients too. Op boundaries,
// dtypes and the order of accumulation are thus LibTorch's own; only the arithmetic inside an op is
// replaced.

#include "harness/libtorch_arithmetic.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/TypeProperties.h>
#include <fmt/format.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

namespace whet {

namespace {

using Stack = torch::jit::Stack;
using Arguments = std::vector<c10::Argument>;

/// A key that no backend and no mode of LibTorch itself uses; it lies below autograd.
constexpr c10::DispatchKey kKey = c10::DispatchKey::Fake;

/// What the boxed fallback, which has no argument of ours, must know.
struct Current {
  Arithmetic arithmetic = Arithmetic::Native;
  std::uint64_t seed = 0;
};
thread_local Current t_current;

bool is_float_tensor(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         at::isFloatingType(value.toTensor().scalar_type());
}

bool is_write(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

/// Whether a result aliases an operand without writing it: no arithmetic happens.
bool is_view_schema(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.arguments(), [](const c10::Argument& argument) {
    return argument.alias_info() != nullptr && !argument.alias_info()->isWrite();
  });
}

bool is_dtype_argument(const c10::Argument& argument) { return argument.name() == "dtype"; }

/// The dtype that eager gives to an op's floating results.
at::ScalarType result_dtype(const Arguments& arguments, c10::ArrayRef<c10::IValue> values) {
  std::vector<at::Tensor> tensors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_dtype_argument(arguments[i]) && values[i].isInt()) {
      return values[i].toScalarType();
    }
    if (values[i].isTensor() && values[i].toTensor().defined()) {
      tensors.push_back(values[i].toTensor());
    } else if (values[i].isTensorList()) {
      const std::vector<at::Tensor> list = values[i].toTensorVector();
      tensors.insert(tensors.end(), list.begin(), list.end());
    }
  }
  return at::native::result_type(at::TensorList(tensors));
}

at::Tensor widened(const at::Tensor& tensor) {
  if (!tensor.defined() || !at::isFloatingType(tensor.scalar_type())) {
    return tensor;
  }
  // A number that became a tensor enters an op in the op's own precision, as a Scalar does.
  const bool is_number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  return (is_number ? tensor.to(at::kFloat) : tensor).to(at::kDouble);
}

/// An operand of an f64 op. Numbers are rounded to f32: eager computes f32, bf16 and f16 in f32.
c10::IValue widened(const c10::IValue& value, const c10::Argument& argument) {
  if (value.isTensor()) {
    return widened(value.toTensor());
  }
  if (value.isTensorList()) {
    std::vector<at::Tensor> list = value.toTensorVector();
    std::ranges::transform(list, list.begin(), [](const at::Tensor& t) { return widened(t); });
    return list;
  }
  if (value.isDouble() && argument.type()->kind() == c10::TypeKind::NumberType) {
    return static_cast<double>(static_cast<float>(value.toDouble()));
  }
  if (is_dtype_argument(argument) && value.isInt() && at::isFloatingType(value.toScalarType())) {
    return at::kDouble;
  }
  return value;
}

/// The tensor that a result is: for an in-place op the operand that it names, brought up to date.
at::Tensor rounded(
    const at::Tensor& result,
    at::ScalarType dtype,
    const std::vector<at::Tensor>& widened_writes,
    const std::vector<at::Tensor>& writes
) {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (result.is_same(widened_writes[i])) {
      return writes[i];
    }
  }
  return result.defined() && result.scalar_type() == at::kDouble ? result.to(dtype) : result;
}

/// Runs the op on f64 operands and rounds what it gives, f64 to f32 and from there to bf16 or f16:
/// as eager, which has an f32 result before it rounds.
void run_in_f64(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const Arguments& arguments = op.schema().arguments();
  const auto values = torch::jit::last(*stack, arguments.size());
  if (is_view_schema(op.schema()) || std::ranges::none_of(values, [](const c10::IValue& value) {
        return is_float_tensor(value) || value.isTensorList();
      })) {
    op.redispatchBoxed(keys, stack);
    return;
  }
  const at::ScalarType dtype = result_dtype(arguments, values);
  std::vector<at::Tensor> writes;
  std::vector<at::Tensor> widened_writes;
  Stack operands;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    operands.push_back(widened(values[i], arguments[i]));
    if (is_write(arguments[i]) && values[i].isTensor() && values[i].toTensor().defined()) {
      writes.push_back(values[i].toTensor());
      widened_writes.push_back(operands.back().toTensor());
    }
  }
  torch::jit::drop(*stack, arguments.size());
  op.redispatchBoxed(keys, &operands);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (!writes[i].is_same(widened_writes[i])) {
      writes[i].copy_(widened_writes[i]);
    }
  }
  for (c10::IValue& result : operands) {
    if (result.isTensor()) {
      result = rounded(result.toTensor(), dtype, widened_writes, writes);
    } else if (result.isTensorList()) {
      std::vector<at::Tensor> list = result.toTensorVector();
      std::ranges::transform(list, list.begin(), [&](const at::Tensor& tensor) {
        return rounded(tensor, dtype, widened_writes, writes);
      });
      result = list;
    }
    stack->push_back(std::move(result));
  }
}

/// Row indices in the order in which a sum of `size` terms runs.
at::Tensor sum_order(const Current& current, std::int64_t size) {
  if (current.arithmetic == Arithmetic::Reversed) {
    return at::arange(size, at::kLong).flip(0);
  }
  const at::Generator generator =
      at::detail::createCPUGenerator(current.seed + static_cast<std::uint64_t>(size));
  return at::randperm(size, generator, at::kLong);
}

std::int64_t num_parts(const Current& current) {
  return current.arithmetic == Arithmetic::Split ? 4 : 1;
}

/// a b in f32, K in the given order and parts.
at::Tensor reordered_product(const Current& current, const at::Tensor& a, const at::Tensor& b) {
  const std::int64_t size = a.size(1);
  const at::Tensor order = sum_order(current, size);
  const at::Tensor left = a.to(at::kFloat).index_select(1, order);
  const at::Tensor right = b.to(at::kFloat).index_select(0, order);
  const std::int64_t part = std::max<std::int64_t>(1, size / num_parts(current));
  at::Tensor total = at::zeros({a.size(0), b.size(1)}, at::kFloat);
  for (std::int64_t begin = 0; begin < size; begin += part) {
    const std::int64_t length = std::min(part, size - begin);
    total = total + at::mm(left.narrow(1, begin, length), right.narrow(0, begin, length));
  }
  return total;
}

/// The sum over `dims` (all, if there are none) in f32.
at::Tensor reordered_sum(
    const Current& current, at::Tensor terms, std::vector<std::int64_t> dims, bool keepdim
) {
  terms = terms.to(at::kFloat);
  if (terms.dim() == 0) {
    return terms;
  }
  if (dims.empty()) {
    dims.resize(static_cast<std::size_t>(terms.dim()));
    std::iota(dims.begin(), dims.end(), 0);
  }
  for (const std::int64_t d : dims) {
    terms = terms.index_select(d, sum_order(current, terms.size(d)));
  }
  const std::vector<at::Tensor> parts = terms.chunk(num_parts(current), dims.front());
  at::Tensor total = parts.front().sum(dims, keepdim);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    total = total + parts[i].sum(dims, keepdim);
  }
  return total;
}

/// (bias, a, b, beta, alpha). A factor of zero means that its operand is not read, NaN or not.
at::Tensor reordered_addmm(const Current& current, c10::ArrayRef<c10::IValue> values) {
  const at::Tensor a = values[1].toTensor();
  const at::Tensor b = values[2].toTensor();
  const c10::Scalar beta = values[3].toScalar();
  const c10::Scalar alpha = values[4].toScalar();
  at::Tensor result = at::zeros({a.size(0), b.size(1)}, at::kFloat);
  if (alpha.toDouble() != 0.0) {
    result = reordered_product(current, a, b) * alpha;
  }
  return beta.toDouble() == 0.0 ? result : values[0].toTensor().to(at::kFloat) * beta + result;
}

/// sum and mean: (self, dtype) or (self, dims, keepdim, dtype).
at::Tensor reordered_reduction(
    const Current& current, c10::ArrayRef<c10::IValue> values, bool is_mean
) {
  const at::Tensor self = values[0].toTensor();
  const bool has_dims = values.size() == 4;
  std::vector<std::int64_t> dims;
  if (has_dims && values[1].isIntList()) {
    dims = values[1].toIntVector();
  }
  const at::Tensor total = reordered_sum(current, self, dims, has_dims && values[2].toBool());
  if (!is_mean) {
    return total;
  }
  const double num_terms = static_cast<double>(self.numel()) /
                           static_cast<double>(std::max<std::int64_t>(1, total.numel()));
  return total / num_terms;
}

/// What the relu of a sum may be: of a value so near zero that the order of the sum decides its
/// sign, one order takes one side and the other the other. Undefined where there is nothing to
/// decide.
at::Tensor decided_relu(const Current& current, const at::Tensor& self) {
  // Of f32 sums of up to some thousand terms, against the rms of the sums.
  constexpr double kRoundingShare = 1.0 / (1 << 19);
  const at::Tensor values = self.to(at::kFloat);
  const double limit = kRoundingShare * values.square().mean().sqrt().item<double>();
  if (!std::isfinite(limit)) {
    return {};
  }
  const at::Tensor undecided = at::logical_and(values.abs() <= limit, values != 0);
  const double side = current.arithmetic == Arithmetic::Reversed ? limit : 0.0;
  return at::where(undecided, at::full_like(values, side), at::relu(values));
}

/// The f32 result of an op that other sums change, or whose own sum can run in another order;
/// undefined for any other op.
at::Tensor reordered_result(
    const Current& current, std::string_view name, c10::ArrayRef<c10::IValue> values
) {
  if (!is_float_tensor(values[0])) {
    return {};
  }
  if (name == "aten::mm") {
    return reordered_product(current, values[0].toTensor(), values[1].toTensor());
  }
  if (name == "aten::addmm") {
    return reordered_addmm(current, values);
  }
  if (name == "aten::sum" || name == "aten::mean") {
    return reordered_reduction(current, values, name == "aten::mean");
  }
  if (name == "aten::relu") {
    return decided_relu(current, values[0].toTensor());
  }
  if (name == "aten::mse_loss" && values[2].toInt() == at::Reduction::Mean) {
    const at::Tensor difference =
        values[0].toTensor().to(at::kFloat) - values[1].toTensor().to(at::kFloat);
    const at::Tensor total = reordered_sum(current, difference * difference, {}, false);
    return total / static_cast<double>(difference.numel());
  }
  return {};
}

void run_reordered(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const Arguments& arguments = op.schema().arguments();
  const auto values = torch::jit::last(*stack, arguments.size());
  const bool writes = std::ranges::any_of(arguments, is_write);
  const at::Tensor result = arguments.empty() || writes
                                ? at::Tensor{}
                                : reordered_result(t_current, op.schema().name(), values);
  if (!result.defined()) {
    op.redispatchBoxed(keys, stack);
    return;
  }
  const at::Tensor cast = result.to(result_dtype(arguments, values));
  torch::jit::drop(*stack, arguments.size());
  stack->emplace_back(cast);
}

void dispatch(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(kKey);
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  keys = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kKey);
  switch (t_current.arithmetic) {
    case Arithmetic::Native:
      op.redispatchBoxed(keys, stack);
      break;
    case Arithmetic::Reference:
      run_in_f64(op, keys, stack);
      break;
    case Arithmetic::Reversed:
    case Arithmetic::Split:
      run_reordered(op, keys, stack);
      break;
  }
}

/// LibTorch 1.13 has no such reductions, and no such switch.
template <typename Context>
void forbid_bf16_reductions(Context& context) {
  if constexpr (requires { context.setAllowBF16ReductionCuBLAS(false); }) {
    context.setAllowBF16ReductionCuBLAS(false);
  }
}

TORCH_LIBRARY_IMPL(_, Fake, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&dispatch>());
}

}  // namespace

struct ArithmeticGuard::State {
  Current outer = t_current;
  c10::impl::IncludeDispatchKeyGuard include{kKey};
};

ArithmeticGuard::ArithmeticGuard(Arithmetic arithmetic, std::uint64_t seed)
    : state_(std::make_unique<State>()) {
  t_current = {.arithmetic = arithmetic, .seed = seed};
}

ArithmeticGuard::~ArithmeticGuard() { t_current = state_->outer; }

std::string use_exact_settings(int num_threads) {
  at::set_num_threads(num_threads);
  at::Context& context = at::globalContext();
  context.setFloat32MatmulPrecision("highest");
  context.setAllowTF32CuBLAS(false);
  context.setAllowTF32CuDNN(false);
  context.setAllowFP16ReductionCuBLAS(false);
  forbid_bf16_reductions(context);
  at::Context::setFlushDenormal(false);
  return fmt::format(
      "threads={} tf32=off reduced_precision_reductions=off flush_denormals=off", num_threads
  );
}

std::string libtorch_version() { return TORCH_VERSION; }

}  // namespace whet
