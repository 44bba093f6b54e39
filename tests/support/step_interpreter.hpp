#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "base/half.hpp"
#include "ir/program.hpp"

namespace whet::testing {

/// Dense row-major values of a tensor.
using Values = std::vector<double>;

/// Rounded once to f32, then to the dtype, as LibTorch converts.
inline double round_to(double value, DType dtype) {
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

/// Evaluates a Program in double, rounding each op's result to its dtype: slow, and plain.
class StepInterpreter {
 public:
  explicit StepInterpreter(const Program& program) : program_(program) {}

  std::map<ValueId, Values> run(std::map<ValueId, Values> values) {
    values_ = std::move(values);
    for (const Op& op : program_.ops) {
      Values result = compute(op);
      for (double& v : result) {
        v = round_to(v, program_.value(op.output).dtype);
      }
      values_[op.output] = std::move(result);
    }
    return std::move(values_);
  }

 private:
  using Dims = std::vector<std::int64_t>;

  const Dims& shape(ValueId v) const { return program_.value(v).shape; }

  static Dims index_of(std::int64_t linear, const Dims& dims) {
    Dims index(dims.size());
    for (std::size_t d = dims.size(); d-- > 0;) {
      index[d] = linear % dims[d];
      linear /= dims[d];
    }
    return index;
  }
  static std::int64_t linear_of(const Dims& index, const Dims& dims) {
    std::int64_t linear = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      linear = linear * dims[d] + index[d];
    }
    return linear;
  }

  /// Element of `v` at an index of a shape that it broadcasts to.
  double at(ValueId v, const Dims& index) const {
    const Dims& dims = shape(v);
    Dims own(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) {
      own[d] = dims[d] == 1 ? 0 : index[index.size() - dims.size() + d];
    }
    return values_.at(v)[static_cast<std::size_t>(linear_of(own, dims))];
  }

  Values compute(const Op& op) const {
    const Dims& out = shape(op.output);
    const OpAttributes& a = op.attributes;
    const std::int64_t count = num_elements(out);
    Values result(static_cast<std::size_t>(count), 0.0);
    if (is_reduction(op.kind)) {
      reduce(op, result);
      return result;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      result[static_cast<std::size_t>(i)] = element(op, a, index_of(i, out), i);
    }
    return result;
  }

  void reduce(const Op& op, Values& result) const {
    const Dims& in = shape(op.inputs[0]);
    const Dims& out = shape(op.output);
    std::vector<bool> reduced(in.size(), op.attributes.dims.empty());
    for (const std::int64_t d : op.attributes.dims) {
      reduced[static_cast<std::size_t>(d)] = true;
    }
    const std::int64_t count = num_elements(in);
    for (std::int64_t i = 0; i < count; ++i) {
      const Dims index = index_of(i, in);
      Dims kept;
      for (std::size_t d = 0; d < in.size(); ++d) {
        if (!reduced[d]) {
          kept.push_back(index[d]);
        } else if (out.size() == in.size()) {
          kept.push_back(0);
        }
      }
      double term = at(op.inputs[0], index);
      if (op.kind == OpKind::MseLoss) {
        term -= at(op.inputs[1], index);
        term *= term;
      }
      result[static_cast<std::size_t>(linear_of(kept, out))] += term;
    }
    if (op.kind != OpKind::Sum) {
      for (double& v : result) {
        v /= static_cast<double>(count) / static_cast<double>(result.size());
      }
    }
  }

  double product(ValueId a, ValueId b, const Dims& index) const {
    double sum = 0.0;
    const std::int64_t k = shape(a)[1];
    const std::int64_t n = shape(b)[1];
    const double* row = values_.at(a).data() + index[0] * k;
    const double* column = values_.at(b).data() + index[1];
    for (std::int64_t i = 0; i < k; ++i) {
      sum += row[i] * column[i * n];
    }
    return sum;
  }

  double element(const Op& op, const OpAttributes& a, const Dims& index, std::int64_t i) const {
    const auto in = [&](std::size_t n) { return at(op.inputs[n], index); };
    const auto second = [&] { return op.inputs.size() > 1 ? in(1) : a.other; };
    switch (op.kind) {
      case OpKind::Mm:
        return product(op.inputs[0], op.inputs[1], index);
      case OpKind::Addmm:
        return (a.beta == 0.0 ? 0.0 : a.beta * in(0)) +
               (a.alpha == 0.0 ? 0.0 : a.alpha * product(op.inputs[1], op.inputs[2], index));
      case OpKind::Add:
        return in(0) + a.alpha * second();
      case OpKind::Sub:
        return in(0) - a.alpha * second();
      case OpKind::Mul:
        return in(0) * second();
      case OpKind::Div:
        return in(0) / second();
      case OpKind::Neg:
        return -in(0);
      case OpKind::Relu:
        return in(0) < 0.0 ? 0.0 : in(0);
      case OpKind::ThresholdBackward:
        return in(1) <= a.other ? 0.0 : in(0);
      case OpKind::Pow:
        return std::pow(in(0), a.other);
      case OpKind::Cast:
        return in(0);
      case OpKind::MseLossBackward:
        return 2.0 * (in(1) - in(2)) * values_.at(op.inputs[0])[0] /
               static_cast<double>(num_elements(shape(op.inputs[1])));
      case OpKind::Full:
        return a.other;
      case OpKind::Reshape:
        return values_.at(op.inputs[0])[static_cast<std::size_t>(i)];
      case OpKind::Expand:
        return in(0);
      default:
        return moved(op, a, index);
    }
  }

  double moved(const Op& op, const OpAttributes& a, Dims index) const {
    const Dims& from = shape(op.inputs[0]);
    const auto d = a.dims.empty() ? 0 : static_cast<std::size_t>(a.dims[0]);
    switch (op.kind) {
      case OpKind::Transpose:
        std::swap(index[d], index[static_cast<std::size_t>(a.dims[1])]);
        break;
      case OpKind::Permute: {
        Dims source(index.size());
        for (std::size_t n = 0; n < index.size(); ++n) {
          source[static_cast<std::size_t>(a.dims[n])] = index[n];
        }
        index = source;
        break;
      }
      case OpKind::Select:
        index.insert(index.begin() + static_cast<std::ptrdiff_t>(d), a.index);
        break;
      case OpKind::Slice:
        index[d] = a.start + index[d] * a.step;
        break;
      case OpKind::SelectBackward:
        if (index[d] != a.index) {
          return 0.0;
        }
        index.erase(index.begin() + static_cast<std::ptrdiff_t>(d));
        break;
      case OpKind::SliceBackward: {
        const std::int64_t distance = index[d] - a.start;
        if (distance < 0 || distance % a.step != 0 || distance / a.step >= from[d]) {
          return 0.0;
        }
        index[d] = distance / a.step;
        break;
      }
      default:
        break;
    }
    return values_.at(op.inputs[0])[static_cast<std::size_t>(linear_of(index, from))];
  }

  const Program& program_;
  std::map<ValueId, Values> values_;
};

}  // namespace whet::testing
