// The bound of an op, from the bounds of its operands. Relative roundings: f32 2^-24, bf16 2^-8,
// f16 2^-11, once in the kernel and once in the reference; a sum of n terms in f32 adds n 2^-24 of
// the sum of their magnitudes.
#include "property/error_bound.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "harness/libtorch_arithmetic.hpp"
#include "harness/libtorch_walk.hpp"

namespace whet::testing {
namespace {

using at::Tensor;

constexpr double kF32Roundoff = 0x1p-24;
/// Roundings of f32 arithmetic inside an op that sums nothing: its operations and its constants.
constexpr double kInnerRoundings = 4.0;
/// The same of pow, whose general case the host's library computes to a few units.
constexpr double kPowRoundings = 16.0;
/// Nearer to zero than this, a divisor or the base of a root makes every bound useless.
constexpr double kLeastDivisor = 0.2;

double roundoff(DType dtype) {
  return dtype == DType::BF16 ? 0x1p-8 : dtype == DType::F16 ? 0x1p-11 : kF32Roundoff;
}

/// Half the distance of subnormals, where roundings are absolute.
double least_rounding(DType dtype) { return dtype == DType::F16 ? 0x1p-25 : 0x1p-134; }

class Bounder {
 public:
  Bounder(const Program& program, const Op& op, const BoundedValues& at)
      : program_(program), op_(op), at_(at), dtype_(program.value(op.output).dtype) {}

  Tensor run() const {
    if (is_view(op_.kind) || op_.kind == OpKind::SelectBackward ||
        op_.kind == OpKind::SliceBackward) {
      return moved();
    }
    if (op_.kind == OpKind::Mm || op_.kind == OpKind::Addmm) {
      return product();
    }
    return is_reduction(op_.kind) ? reduction() : pointwise();
  }

 private:
  Tensor value(std::size_t i) const {
    return at_.values[static_cast<std::size_t>(op_.inputs.at(i))].to(at::kDouble);
  }
  Tensor bound(std::size_t i) const {
    return at_.bounds[static_cast<std::size_t>(op_.inputs.at(i))];
  }
  Tensor result() const { return at_.values[static_cast<std::size_t>(op_.output)].to(at::kDouble); }

  /// `carried` is what the operands' bounds make of the result; `magnitude` the sum of the
  /// magnitudes that `roundings` f32 operations round.
  Tensor rounded(const Tensor& carried, const Tensor& magnitude, double roundings) const {
    const double unit = roundoff(dtype_);
    return (carried + magnitude * (roundings * kF32Roundoff)) * (1.0 + 2.0 * unit) +
           at::abs(result()) * (2.0 * unit) + 2.0 * least_rounding(dtype_);
  }

  /// Views, and gradients of views, move bounds as they move values.
  Tensor moved() const {
    std::vector<Tensor> bounds = at_.bounds;
    Program one;
    one.values = program_.values;
    one.ops = {op_};
    walk(one, bounds, WalkDType::AllF64);
    return bounds[static_cast<std::size_t>(op_.output)];
  }

  Tensor product() const {
    const std::size_t first = op_.kind == OpKind::Addmm ? 1 : 0;
    const OpAttributes& a = op_.attributes;
    const Tensor left = at::abs(value(first));
    const Tensor right = at::abs(value(first + 1));
    const Tensor left_bound = bound(first);
    const Tensor right_bound = bound(first + 1);
    Tensor carried = at::mm(left + left_bound, right_bound) + at::mm(left_bound, right);
    Tensor magnitude = at::mm(left + left_bound, right + right_bound);
    if (op_.kind == OpKind::Addmm) {
      carried = carried * std::fabs(a.alpha);
      magnitude = magnitude * std::fabs(a.alpha);
      if (a.beta != 0.0) {
        carried = carried + bound(0) * std::fabs(a.beta);
        magnitude = magnitude + at::abs(value(0)) * std::fabs(a.beta);
      }
    }
    return rounded(carried, magnitude, static_cast<double>(left.size(1)) + kInnerRoundings);
  }

  Tensor reduction() const {
    const OpAttributes& a = op_.attributes;
    if (op_.kind == OpKind::MseLoss) {
      const Tensor difference = at::abs(value(0) - value(1));
      const Tensor either = bound(0) + bound(1);
      const auto count = static_cast<double>(difference.numel());
      const Tensor carried = at::mean((difference * 2.0 + either) * either);
      const Tensor magnitude = at::mean(at::square(difference + either));
      return rounded(carried, magnitude, count + kInnerRoundings);
    }
    Tensor carried = at::sum(bound(0), a.dims, a.keepdim);
    Tensor magnitude = at::sum(at::abs(value(0)) + bound(0), a.dims, a.keepdim);
    const double count = static_cast<double>(value(0).numel()) /
                         static_cast<double>(std::max<std::int64_t>(1, magnitude.numel()));
    if (op_.kind == OpKind::Mean) {
      carried = carried / count;
      magnitude = magnitude / count;
    }
    return rounded(carried, magnitude, count + kInnerRoundings);
  }

  Tensor pointwise() const {
    const OpAttributes& a = op_.attributes;
    const bool one = op_.inputs.size() == 1;
    const auto second = [&] { return one ? at::full({}, a.other, at::kDouble) : value(1); };
    const auto second_bound = [&] { return one ? at::zeros({}, at::kDouble) : bound(1); };
    switch (op_.kind) {
      case OpKind::Add:
      case OpKind::Sub: {
        const double alpha = std::fabs(a.alpha);
        return rounded(
            bound(0) + second_bound() * alpha,
            at::abs(value(0)) + at::abs(second()) * alpha,
            kInnerRoundings
        );
      }
      case OpKind::Mul:
        return rounded(
            at::abs(value(0)) * second_bound() + bound(0) * (at::abs(second()) + second_bound()),
            at::abs(result()),
            kInnerRoundings
        );
      case OpKind::Div:
        return rounded(
            (bound(0) + at::abs(result()) * second_bound()) / (at::abs(second()) - second_bound()),
            at::abs(result()),
            kInnerRoundings
        );
      case OpKind::Neg:
        return bound(0);
      case OpKind::Relu:
        return at::where(value(0) > 0.0, bound(0), 0.0);
      case OpKind::ThresholdBackward:
        return at::where(value(1) > a.other, bound(0), 0.0);
      case OpKind::Pow:
        return power();
      case OpKind::Cast:
        return program_.value(op_.inputs[0]).dtype == dtype_ || dtype_ == DType::F32
                   ? bound(0)
                   : rounded(bound(0), at::abs(result()), 0.0);
      case OpKind::MseLossBackward: {
        const double scale = 2.0 / static_cast<double>(std::max<std::int64_t>(1, value(1).numel()));
        const Tensor difference = at::abs(value(1) - value(2));
        const Tensor either = bound(1) + bound(2);
        const Tensor grad = at::abs(value(0));
        return rounded(
            (grad * either + bound(0) * (difference + either)) * scale,
            at::abs(result()),
            kInnerRoundings
        );
      }
      case OpKind::Full:
        return at::zeros(a.shape, at::kDouble);
      default:
        throw InternalError(fmt::format("no bound of {}", op_name(op_.kind)));
    }
  }

  Tensor power() const {
    const double exponent = op_.attributes.other;
    if (exponent == 0.0 || exponent == 1.0) {
      return at::abs(bound(0) * exponent);
    }
    const Tensor base = at::abs(value(0));
    const Tensor steepest = exponent < 1.0 ? base - bound(0) : base + bound(0);
    const Tensor slope = at::pow(steepest, exponent - 1.0) * std::fabs(exponent);
    return rounded(slope * bound(0), at::abs(result()), kPowRoundings);
  }

  const Program& program_;
  const Op& op_;
  const BoundedValues& at_;
  DType dtype_;
};

}  // namespace

void evaluate_with_bound(const Program& program, const Op& op, BoundedValues& at) {
  at.values.resize(program.values.size());
  at.bounds.resize(program.values.size());
  Program one;
  one.values = program.values;
  one.ops = {op};
  const ArithmeticGuard guard(Arithmetic::Reference);
  walk(one, at.values, WalkDType::Declared);
  at.bounds[static_cast<std::size_t>(op.output)] = [&] {
    const ArithmeticGuard exact(Arithmetic::Native);
    return Bounder(program, op, at).run();
  }();
}

std::string near_kink(const Program&, const Op& op, const BoundedValues& at) {
  const auto value = [&](std::size_t i) {
    return at.values[static_cast<std::size_t>(op.inputs.at(i))].to(at::kDouble);
  };
  const auto bound = [&](std::size_t i) {
    return at.bounds[static_cast<std::size_t>(op.inputs.at(i))];
  };
  const auto any = [](const Tensor& mask) { return mask.any().item<bool>(); };
  const auto crosses = [&](std::size_t i, double threshold) {
    // What is exactly known cannot cross, and a zero that a relu made is exactly known.
    return any((at::abs(value(i) - threshold) <= bound(i)).logical_and(bound(i) > 0.0));
  };
  const auto near_zero = [&](std::size_t i) {
    return any(at::abs(value(i)) < at::clamp_min(bound(i) * 4.0, kLeastDivisor));
  };
  const double exponent = op.attributes.other;
  const bool whole = std::trunc(exponent) == exponent;
  switch (op.kind) {
    case OpKind::Relu:
      // At zero itself LibTorch has no slope to agree about.
      return crosses(0, 0.0) || any(value(0) == 0.0) ? "relu near 0" : "";
    case OpKind::ThresholdBackward:
      return crosses(1, op.attributes.other) ? "threshold_backward near its threshold" : "";
    case OpKind::Div:
      return op.inputs.size() == 2 && near_zero(1) ? "div by near 0" : "";
    case OpKind::Pow:
      if (!whole && any(value(0) < 0.0)) {
        return "pow of a negative base";
      }
      return (!whole || exponent < 0.0) && near_zero(0) ? "pow near 0" : "";
    default:
      return "";
  }
}

}  // namespace whet::testing
