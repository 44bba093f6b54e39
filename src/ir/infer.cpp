#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "ir/program.hpp"

namespace whet {
namespace {

using Dims = std::vector<std::int64_t>;

/// The result of one op from its operands, by ATen's rules.
class Inference {
 public:
  Inference(const Program& program, OpKind kind, const std::vector<ValueId>& inputs, OpAttributes& a)
      : program_(program), kind_(kind), inputs_(inputs), a_(a) {}

  TensorDesc run() {
    TensorDesc result;
    if (kind_ == OpKind::Full) {
      expect_inputs(0, 0);
      check_shape(a_.shape);
      result.dtype = a_.dtype.value_or(DType::F32);
      result.shape = a_.shape;
    } else if (kind_ == OpKind::Mm || kind_ == OpKind::Addmm) {
      result = product();
    } else if (is_pointwise(kind_)) {
      result = pointwise();
    } else if (is_reduction(kind_)) {
      result = reduction();
    } else if (is_view(kind_)) {
      expect_inputs(1, 1);
      return view();
    } else {
      result = gradient_of_view();
    }
    result.strides = contiguous_strides(result.shape);
    return result;
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) const {
    throw UserError(fmt::format("{}: {}", op_name(kind_), fmt::format(text, args...)));
  }

  const TensorDesc& in(std::size_t i) const { return program_.value(inputs_.at(i)); }

  void expect_inputs(std::size_t low, std::size_t high) const {
    if (inputs_.size() < low || inputs_.size() > high) {
      refuse(
          "expected {} operand{}, found {}",
          low == high ? fmt::format("{}", low) : fmt::format("{} or {}", low, high),
          high == 1 ? "" : "s", inputs_.size()
      );
    }
  }

  void expect_same_dtype() const {
    for (std::size_t i = 1; i < inputs_.size(); ++i) {
      if (in(i).dtype != in(0).dtype) {
        refuse(
            "operands must have one dtype (insert a cast), found {} {} and {} {}", in(0).name,
            describe(in(0)), in(i).name, describe(in(i))
        );
      }
    }
  }

  void expect_compute(const TensorDesc& tensor) const {
    if (!is_compute_dtype(tensor.dtype)) {
      refuse("expected f32, bf16 or f16, found {} {}", tensor.name, describe(tensor));
    }
  }

  void check_shape(const Dims& shape) const {
    for (const std::int64_t size : shape) {
      if (size < 0) {
        refuse("a size of [{}] is negative", fmt::join(shape, ", "));
      }
    }
  }

  std::int64_t wrap(std::int64_t dim, std::size_t rank) const {
    const auto signed_rank = static_cast<std::int64_t>(rank);
    if (dim < -signed_rank || dim >= signed_rank) {
      refuse("dim {} is out of range for a tensor of {} dims", dim, rank);
    }
    return dim < 0 ? dim + signed_rank : dim;
  }

  TensorDesc product() const {
    const std::size_t first = kind_ == OpKind::Addmm ? 1 : 0;
    expect_inputs(2 + first, 2 + first);
    expect_same_dtype();
    const TensorDesc& a = in(first);
    const TensorDesc& b = in(first + 1);
    expect_compute(a);
    if (a.shape.size() != 2 || b.shape.size() != 2 || a.shape[1] != b.shape[0]) {
      refuse(
          "expected [M, K] and [K, N], found {} {} and {} {}", a.name, describe(a), b.name,
          describe(b)
      );
    }
    const Dims shape{a.shape[0], b.shape[1]};
    if (first == 1 && broadcast(in(0).shape, shape) != shape) {
      refuse("bias {} {} does not broadcast to [{}]", in(0).name, describe(in(0)), fmt::join(shape, ", "));
    }
    return {.name = {}, .shape = shape, .strides = {}, .dtype = a.dtype};
  }

  Dims broadcast(const Dims& a, const Dims& b) const {
    Dims result(std::max(a.size(), b.size()), 1);
    for (std::size_t d = 0; d < result.size(); ++d) {
      const std::int64_t x = d < a.size() ? a[a.size() - 1 - d] : 1;
      const std::int64_t y = d < b.size() ? b[b.size() - 1 - d] : 1;
      if (x != y && x != 1 && y != 1) {
        refuse("shapes [{}] and [{}] do not broadcast", fmt::join(a, ", "), fmt::join(b, ", "));
      }
      result[result.size() - 1 - d] = x == 1 ? y : x;
    }
    return result;
  }

  TensorDesc pointwise() const {
    switch (kind_) {
      case OpKind::Add:
      case OpKind::Sub:
      case OpKind::Mul:
      case OpKind::Div:
        expect_inputs(1, 2);
        break;
      case OpKind::ThresholdBackward:
        expect_inputs(2, 2);
        break;
      case OpKind::MseLossBackward:
        expect_inputs(3, 3);
        if (num_elements(in(0).shape) != 1 || in(1).shape != in(2).shape) {
          refuse("expected a 0-d gradient and two tensors of one shape");
        }
        break;
      default:
        expect_inputs(1, 1);
    }
    expect_same_dtype();
    Dims shape = in(0).shape;
    for (std::size_t i = 1; i < inputs_.size(); ++i) {
      shape = broadcast(shape, in(i).shape);
    }
    DType dtype = in(0).dtype;
    if (kind_ == OpKind::Cast) {
      if (!a_.dtype) {
        refuse("needs a dtype");
      }
      dtype = *a_.dtype;
      if (!is_compute_dtype(dtype)) {
        refuse("expected a cast to f32, bf16 or f16, found {}", dtype_name(dtype));
      }
    }
    expect_compute(in(0));
    return {.name = {}, .shape = shape, .strides = {}, .dtype = dtype};
  }

  TensorDesc reduction() {
    const bool mse = kind_ == OpKind::MseLoss;
    expect_inputs(mse ? 2 : 1, mse ? 2 : 1);
    expect_same_dtype();
    expect_compute(in(0));
    if (mse && in(0).shape != in(1).shape) {
      refuse(
          "expected two tensors of one shape, found {} {} and {} {}", in(0).name, describe(in(0)),
          in(1).name, describe(in(1))
      );
    }
    const Dims& from = in(0).shape;
    std::vector<char> reduced(from.size(), a_.dims.empty() ? 1 : 0);
    for (std::int64_t& dim : a_.dims) {
      dim = wrap(dim, std::max<std::size_t>(from.size(), 1));
      if (from.empty()) {
        continue;
      }
      if (reduced[static_cast<std::size_t>(dim)] != 0) {
        refuse("dim {} is named twice", dim);
      }
      reduced[static_cast<std::size_t>(dim)] = 1;
    }
    if (from.empty()) {
      a_.dims.clear();
    }
    TensorDesc result{.name = {}, .shape = {}, .strides = {}, .dtype = in(0).dtype};
    for (std::size_t d = 0; d < from.size(); ++d) {
      if (reduced[d] == 0) {
        result.shape.push_back(from[d]);
      } else if (a_.keepdim && !mse) {
        result.shape.push_back(1);
      }
    }
    return result;
  }

  TensorDesc view() {
    const TensorDesc& from = in(0);
    TensorDesc result{.name = {}, .shape = from.shape, .strides = {}, .dtype = from.dtype};
    switch (kind_) {
      case OpKind::Transpose: {
        if (a_.dims.size() != 2) {
          refuse("expected two dims, found {}", a_.dims.size());
        }
        for (std::int64_t& dim : a_.dims) {
          dim = wrap(dim, from.shape.size());
        }
        std::swap(
            result.shape[static_cast<std::size_t>(a_.dims[0])],
            result.shape[static_cast<std::size_t>(a_.dims[1])]
        );
        break;
      }
      case OpKind::Permute: {
        Dims sorted;
        for (std::int64_t& dim : a_.dims) {
          dim = wrap(dim, from.shape.size());
          sorted.push_back(dim);
        }
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t d = 0; d < sorted.size(); ++d) {
          if (sorted[d] != static_cast<std::int64_t>(d)) {
            refuse("dims [{}] are no permutation", fmt::join(a_.dims, ", "));
          }
        }
        if (sorted.size() != from.shape.size()) {
          refuse("expected {} dims, found {}", from.shape.size(), sorted.size());
        }
        for (std::size_t d = 0; d < sorted.size(); ++d) {
          result.shape[d] = from.shape[static_cast<std::size_t>(a_.dims[d])];
        }
        break;
      }
      case OpKind::Reshape:
        result.shape = reshaped(from);
        break;
      case OpKind::Expand:
        result.shape = expanded(from);
        break;
      case OpKind::Select: {
        const auto d = static_cast<std::size_t>(one_dim(from.shape.size()));
        if (a_.index < -from.shape[d] || a_.index >= from.shape[d]) {
          refuse("index {} is out of range for size {}", a_.index, from.shape[d]);
        }
        a_.index = a_.index < 0 ? a_.index + from.shape[d] : a_.index;
        result.shape.erase(result.shape.begin() + static_cast<long>(d));
        break;
      }
      default:
        slice(from, result);
    }
    result.strides = contiguous_strides(result.shape);
    return result;
  }

  std::int64_t one_dim(std::size_t rank) {
    if (a_.dims.size() != 1) {
      refuse("expected one dim, found {}", a_.dims.size());
    }
    a_.dims[0] = wrap(a_.dims[0], rank);
    return a_.dims[0];
  }

  void slice(const TensorDesc& from, TensorDesc& result) {
    const auto d = static_cast<std::size_t>(one_dim(from.shape.size()));
    if (a_.step < 1) {
      refuse("expected a positive step, found {}", a_.step);
    }
    const std::int64_t size = from.shape[d];
    const auto clamp = [size](std::int64_t i) {
      return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
    };
    a_.start = clamp(a_.start);
    a_.end = std::max(a_.start, clamp(a_.end));
    result.shape[d] = (a_.end - a_.start + a_.step - 1) / a_.step;
  }

  Dims reshaped(const TensorDesc& from) {
    const std::int64_t elements = num_elements(from.shape);
    const auto unknown = std::find(a_.shape.begin(), a_.shape.end(), -1);
    if (unknown != a_.shape.end()) {
      std::int64_t known = 1;
      for (const std::int64_t size : a_.shape) {
        known *= size == -1 ? 1 : size;
      }
      if (known <= 0 || elements % known != 0) {
        refuse("cannot infer -1 of [{}] for {} elements", fmt::join(a_.shape, ", "), elements);
      }
      *unknown = elements / known;
    }
    check_shape(a_.shape);
    if (num_elements(a_.shape) != elements) {
      refuse(
          "expected {} elements as in {} {}, found [{}]", elements, from.name, describe(from),
          fmt::join(a_.shape, ", ")
      );
    }
    return a_.shape;
  }

  Dims expanded(const TensorDesc& from) {
    if (a_.shape.size() < from.shape.size()) {
      refuse("expected at least {} dims, found {}", from.shape.size(), a_.shape.size());
    }
    const std::size_t added = a_.shape.size() - from.shape.size();
    for (std::size_t d = 0; d < from.shape.size(); ++d) {
      std::int64_t& size = a_.shape[d + added];
      size = size == -1 ? from.shape[d] : size;
      if (from.shape[d] != size && from.shape[d] != 1) {
        refuse("size {} of {} does not expand to {}", from.shape[d], from.name, size);
      }
    }
    check_shape(a_.shape);
    return a_.shape;
  }

  TensorDesc gradient_of_view() {
    expect_inputs(1, 1);
    check_shape(a_.shape);
    one_dim(a_.shape.size());
    return {.name = {}, .shape = a_.shape, .strides = {}, .dtype = in(0).dtype};
  }

  const Program& program_;
  OpKind kind_;
  const std::vector<ValueId>& inputs_;
  OpAttributes& a_;
};

}  // namespace

ValueId append_op(
    Program& program,
    OpKind kind,
    std::vector<ValueId> inputs,
    OpAttributes attributes,
    std::string name
) {
  TensorDesc result = Inference(program, kind, inputs, attributes).run();
  result.name = std::move(name);
  program.values.push_back(std::move(result));
  const auto id = static_cast<ValueId>(program.values.size()) - 1;
  program.ops.push_back(
      {.kind = kind,
       .inputs = std::move(inputs),
       .output = id,
       .attributes = std::move(attributes)}
  );
  return id;
}

}  // namespace whet
