#include "property/drawn_program.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "property/leaf_tensor.hpp"

namespace whet::testing {
namespace {

using Dims = std::vector<std::int64_t>;
using Index = std::size_t;

/// Keeps f16 far from overflow in the gradients too.
constexpr double kMaxMagnitude = 400.0;
/// A value that is less sure than this shows no bug.
constexpr double kMaxRelativeBound = 0.2;

}  // namespace

DrawnProgram::DrawnProgram(std::uint64_t seed, std::uint64_t index, Rejections& rejections)
    : random(seed, index), rejections_(rejections) {
  static const std::vector<DType> dtypes{DType::F32, DType::F32, DType::BF16, DType::F16};
  dtype_ = random.one_of(dtypes);
  may_be_empty_ = random.chance(0.06);
  result_.rate = static_cast<float>(random.between(0.1, 0.5));
  const ValueId lr = add_value({.name = "lr", .shape = {}, .strides = {}, .dtype = DType::F32});
  program().scalars.push_back(lr);
}

ValueId DrawnProgram::add_value(TensorDesc tensor) {
  program().values.push_back(std::move(tensor));
  at_.values.emplace_back();
  at_.bounds.emplace_back();
  return static_cast<ValueId>(program().values.size()) - 1;
}

std::int64_t DrawnProgram::draw_size() {
  static const std::vector<std::int64_t> sizes{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33, 40};
  return may_be_empty_ && random.chance(0.3) ? 0 : random.one_of(sizes);
}

Dims DrawnProgram::draw_shape(std::int64_t rank) {
  Dims dims;
  for (std::int64_t d = 0; d < rank; ++d) {
    dims.push_back(draw_size());
  }
  while (num_elements(dims) > kMaxElementsOfValue) {
    *std::max_element(dims.begin(), dims.end()) /= 2;
  }
  return dims;
}

/// Strides of a tensor that is a part of a larger one, turned, or stretched; dense most often.
Dims DrawnProgram::draw_strides(const Dims& dims) {
  if (dims.empty() || random.chance(0.6)) {
    return contiguous_strides(dims);
  }
  std::vector<Index> order(dims.size());
  std::iota(order.begin(), order.end(), Index{0});
  for (Index i = order.size(); i-- > 1;) {
    std::swap(order[i], order[static_cast<Index>(random.below(static_cast<std::int64_t>(i) + 1))]);
  }
  Dims strides(dims.size());
  std::int64_t pitch = random.chance(0.2) ? 2 : 1;
  for (Index i = order.size(); i-- > 0;) {
    strides[order[i]] = pitch;
    pitch *= dims[order[i]] + (random.chance(0.3) ? random.below(4) : 0);
  }
  return strides;
}

ValueId DrawnProgram::leaf(Dims dims, Sign sign, std::optional<DType> dtype) {
  TensorDesc tensor{.shape = std::move(dims), .dtype = dtype.value_or(dtype_)};
  tensor.name = "leaf" + std::to_string(program().values.size());
  tensor.strides = draw_strides(tensor.shape);
  const bool is_state = random.chance(0.3);
  if (!is_state && !tensor.shape.empty() && random.chance(0.06)) {
    tensor.strides[static_cast<Index>(random.below(static_cast<std::int64_t>(tensor.strides.size()))
    )] = 0;
  }
  Values storage(static_cast<Index>(storage_extent(tensor)));
  for (double& value : storage) {
    const double magnitude = random.between(0.5, 1.5);
    const bool negative = sign == Sign::Any && random.chance(0.5);
    value = round_to(negative ? -magnitude : magnitude, tensor.dtype);
  }
  const at::Tensor bytes = at::tensor(storage, at::kDouble);
  const at::Tensor values = bytes.as_strided(tensor.shape, tensor.strides).contiguous();
  return add_leaf(std::move(tensor), values, is_state);
}

ValueId DrawnProgram::add_leaf(TensorDesc tensor, const at::Tensor& values, bool is_state) {
  const std::int64_t bytes = dtype_bytes(tensor.dtype);
  const ValueId v = add_value(tensor);
  if (is_state) {
    program().state.push_back({.before = v, .after = v});
  } else {
    static const std::vector<std::int64_t> factors{1, 1, 2, 4, 8};
    const std::int64_t alignment = std::min<std::int64_t>(16, bytes * random.one_of(factors));
    program().inputs.push_back(
        {.value = v, .alignment_bytes = alignment, .stable = random.chance(0.5)}
    );
  }
  const double* first = values.data_ptr<double>();
  result_.leaves[v] = Values(first, first + values.numel());
  at_.values[Index(v)] = leaf_tensor(tensor, result_.leaves[v]);
  at_.bounds[Index(v)] = at::zeros(tensor.shape, at::kDouble);
  return v;
}

std::optional<ValueId> DrawnProgram::attempt(
    OpKind kind, std::vector<ValueId> inputs, const OpAttributes& attributes
) {
  ++rejections_.num_drawn;
  const ValueId v = append_op(
      program(), kind, std::move(inputs), attributes, "v" + std::to_string(program().values.size())
  );
  at_.values.emplace_back();
  at_.bounds.emplace_back();
  const std::string reason = reason_to_reject(program().ops.back(), v);
  if (reason.empty()) {
    return v;
  }
  ++rejections_.by_reason[reason];
  program().ops.pop_back();
  program().values.pop_back();
  at_.values.pop_back();
  at_.bounds.pop_back();
  return std::nullopt;
}

std::string DrawnProgram::reason_to_reject(const Op& op, ValueId v) {
  if (num_elements(shape(v)) > kMaxElementsOfValue) {
    return "too large";
  }
  if (const std::string kink = near_kink(program(), op, at_); !kink.empty()) {
    return kink;
  }
  evaluate_with_bound(program(), op, at_);
  const at::Tensor value = at_.values[Index(v)].to(at::kDouble);
  const at::Tensor bound = at_.bounds[Index(v)];
  if (value.numel() == 0) {
    return "";
  }
  if (!at::isfinite(value).logical_and(at::isfinite(bound)).all().item<bool>()) {
    return "not finite";
  }
  const double largest = at::abs(value).max().item<double>();
  if (largest > kMaxMagnitude) {
    return "large result";
  }
  return bound.max().item<double>() > kMaxRelativeBound * largest ? "ill-conditioned" : "";
}

}  // namespace whet::testing
