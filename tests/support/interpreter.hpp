#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "base/half.hpp"
#include "ir/program.hpp"

namespace whet::testing {

/// The elements of a tensor in row-major order, whatever its strides.
using Values = std::vector<double>;

enum class Rounding {
  None,      ///< every op in double: for finite differences
  Declared,  ///< each op's result rounded to its dtype: what eager mode gives but for sums' order
};

/// To f32 first, then to the dtype, as LibTorch converts a double.
inline double rounded_to(double value, DType dtype) {
  const auto single = static_cast<float>(value);
  switch (dtype) {
    case DType::F32:
      return single;
    case DType::BF16:
      return bf16_to_f32(f32_to_bf16(single));
    case DType::F16:
      return f16_to_f32(f32_to_f16(single));
    default:
      return value;
  }
}

/// Evaluates a Program op by op on dense vectors of double: slow, plain, and independent of the
/// strides that inference gives to views.
class Interpreter {
 public:
  explicit Interpreter(const Program& program, Rounding rounding = Rounding::Declared)
      : program_(program), rounding_(rounding), values_(program.values.size()) {}

  void set(ValueId id, Values values) { values_.at(place(id)) = std::move(values); }
  const Values& get(ValueId id) const { return values_.at(place(id)); }

  void run() {
    for (const Op& op : program_.ops) {
      Values result = compute(op);
      if (rounding_ == Rounding::Declared) {
        for (double& value : result) {
          value = rounded_to(value, program_.value(op.output).dtype);
        }
      }
      set(op.output, std::move(result));
    }
  }

 private:
  using Dims = std::vector<std::int64_t>;

  /// Where the elements of some index space lie in a dense tensor.
  struct Layout {
    Dims strides;
    std::int64_t start = 0;
  };

  static std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }
  const Dims& shape(ValueId id) const { return program_.value(id).shape; }

  /// Calls `visit(place in layout)` for each index of `dims`, in row-major order.
  template <typename Visit>
  static void walk(const Dims& dims, const Layout& layout, Visit visit) {
    Dims index(dims.size(), 0);
    std::int64_t at = layout.start;
    for (std::int64_t i = num_elements(dims); i > 0; --i) {
      visit(place(at));
      for (std::size_t d = dims.size(); d-- > 0;) {
        at += layout.strides[d];
        if (++index[d] < dims[d]) {
          break;
        }
        at -= layout.strides[d] * dims[d];
        index[d] = 0;
      }
    }
  }

  /// `from` read over the index space of `to`, to which it broadcasts.
  static Layout broadcast(const Dims& from, const Dims& to) {
    const Dims dense = contiguous_strides(from);
    Layout layout{.strides = Dims(to.size(), 0)};
    for (std::size_t d = 0; d < from.size(); ++d) {
      layout.strides[to.size() - from.size() + d] = from[d] == 1 ? 0 : dense[d];
    }
    return layout;
  }

  Values gather(ValueId source, const Dims& dims, const Layout& layout) const {
    Values result;
    walk(dims, layout, [&](std::size_t at) { result.push_back(get(source).at(at)); });
    return result;
  }

  /// Operand `i`, broadcast to the result's shape.
  Values operand(const Op& op, std::size_t i) const {
    const Dims& to = shape(op.output);
    return gather(op.inputs.at(i), to, broadcast(shape(op.inputs.at(i)), to));
  }

  Values compute(const Op& op) const {
    switch (op.kind) {
      case OpKind::Mm:
        return product(op.inputs[0], op.inputs[1]);
      case OpKind::Addmm:
        return addmm(op);
      case OpKind::Full:
        return Values(place(num_elements(op.attributes.shape)), op.attributes.other);
      case OpKind::Sum:
      case OpKind::Mean:
        return reduce(op);
      case OpKind::MseLoss:
        return mse_loss(op);
      case OpKind::MseLossBackward:
        return mse_loss_backward(op);
      case OpKind::Reshape:
        return get(op.inputs[0]);
      case OpKind::Transpose:
      case OpKind::Permute:
      case OpKind::Expand:
      case OpKind::Select:
      case OpKind::Slice:
        return gather(op.inputs[0], shape(op.output), view(op, shape(op.inputs[0])));
      case OpKind::SelectBackward:
      case OpKind::SliceBackward:
        return scatter(op);
      default:
        return pointwise(op);
    }
  }

  Values product(ValueId a, ValueId b) const {
    const std::size_t rows = place(shape(a)[0]);
    const std::size_t depth = place(shape(a)[1]);
    const std::size_t columns = place(shape(b)[1]);
    Values result(rows * columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < depth; ++k) {
        for (std::size_t j = 0; j < columns; ++j) {
          result[i * columns + j] += get(a)[i * depth + k] * get(b)[k * columns + j];
        }
      }
    }
    return result;
  }

  /// Eager mode computes with constants in f32.
  double constant(const Op& op, double value) const {
    const bool exact = rounding_ == Rounding::None || program_.value(op.output).dtype == DType::F64;
    return exact ? value : static_cast<float>(value);
  }

  /// A factor of zero ignores what it multiplies, NaN included.
  Values addmm(const Op& op) const {
    const double alpha = constant(op, op.attributes.alpha);
    const double beta = constant(op, op.attributes.beta);
    Values result = product(op.inputs[1], op.inputs[2]);
    const Values bias = operand(op, 0);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = (alpha == 0.0 ? 0.0 : alpha * result[i]) + (beta == 0.0 ? 0.0 : beta * bias[i]);
    }
    return result;
  }

  Values reduce(const Op& op) const {
    const Dims& from = shape(op.inputs[0]);
    std::vector<bool> reduced(from.size(), false);
    std::int64_t num_reduced = 1;
    for (const std::int64_t d : op.attributes.dims) {
      reduced[place(d)] = true;
      num_reduced *= from[place(d)];
    }
    Layout to{.strides = Dims(from.size(), 0)};
    std::int64_t stride = 1;
    for (std::size_t d = from.size(); d-- > 0;) {
      if (!reduced[d]) {
        to.strides[d] = stride;
        stride *= from[d];
      }
    }
    Values result(place(num_elements(shape(op.output))), 0.0);
    std::size_t i = 0;
    walk(from, to, [&](std::size_t at) { result.at(at) += get(op.inputs[0])[i++]; });
    for (double& value : result) {
      value /= op.kind == OpKind::Mean ? static_cast<double>(num_reduced) : 1.0;
    }
    return result;
  }

  Values mse_loss(const Op& op) const {
    const Values& a = get(op.inputs[0]);
    const Values& b = get(op.inputs[1]);
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return {sum / static_cast<double>(a.size())};
  }

  Values mse_loss_backward(const Op& op) const {
    const double grad = get(op.inputs[0]).at(0);
    Values result = get(op.inputs[1]);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] =
          2.0 / static_cast<double>(result.size()) * (result[i] - get(op.inputs[2])[i]) * grad;
    }
    return result;
  }

  /// Where the elements of a view, or of a part's gradient, lie in a dense tensor of shape `base`.
  static Layout view(const Op& op, const Dims& base) {
    const OpAttributes& a = op.attributes;
    Layout layout{.strides = contiguous_strides(base)};
    switch (op.kind) {
      case OpKind::Transpose:
        if (!base.empty()) {
          std::swap(layout.strides[place(a.dims[0])], layout.strides[place(a.dims[1])]);
        }
        return layout;
      case OpKind::Permute:
        for (std::size_t d = 0; d < base.size(); ++d) {
          layout.strides[d] = contiguous_strides(base)[place(a.dims[d])];
        }
        return layout;
      case OpKind::Expand:
        return broadcast(base, a.shape);
      case OpKind::Select:
      case OpKind::SelectBackward:
        layout.start = a.index * layout.strides[place(a.dims[0])];
        layout.strides.erase(layout.strides.begin() + a.dims[0]);
        return layout;
      default:  // a slice
        layout.start = a.start * layout.strides[place(a.dims[0])];
        layout.strides[place(a.dims[0])] *= a.step;
        return layout;
    }
  }

  Values scatter(const Op& op) const {
    const Dims& base = op.attributes.shape;
    Values result(place(num_elements(base)), 0.0);
    std::size_t i = 0;
    walk(shape(op.inputs[0]), view(op, base), [&](std::size_t at) {
      result.at(at) = get(op.inputs[0])[i++];
    });
    return result;
  }

  Values pointwise(const Op& op) const {
    const std::function<double(double, double)> f = function(op);
    Values result = operand(op, 0);
    const Values second = op.inputs.size() > 1
                              ? operand(op, 1)
                              : Values(result.size(), constant(op, op.attributes.other));
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = f(result[i], second[i]);
    }
    return result;
  }

  std::function<double(double, double)> function(const Op& op) const {
    const double alpha = constant(op, op.attributes.alpha);
    const double threshold = constant(op, op.attributes.other);
    switch (op.kind) {
      case OpKind::Add:
        return [alpha](double a, double b) { return a + alpha * b; };
      case OpKind::Sub:
        return [alpha](double a, double b) { return a - alpha * b; };
      case OpKind::Mul:
        return [](double a, double b) { return a * b; };
      case OpKind::Div:
        return [](double a, double b) { return a / b; };
      case OpKind::Neg:
        return [](double a, double) { return -a; };
      case OpKind::Relu:
        return [](double a, double) { return a < 0.0 ? 0.0 : a; };  // a NaN stays
      case OpKind::ThresholdBackward:
        return [threshold](double grad, double a) { return a <= threshold ? 0.0 : grad; };
      case OpKind::Pow:
        return [](double a, double b) { return std::pow(a, b); };
      case OpKind::Cast:
        return [](double a, double) { return a; };
      default:
        throw std::logic_error("the interpreter has no " + std::string(op_name(op.kind)));
    }
  }

  const Program& program_;
  Rounding rounding_;
  std::vector<Values> values_;  ///< one for each of the program's
};

}  // namespace whet::testing
