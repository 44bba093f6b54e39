#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ir/infer.hpp"

namespace whet {
namespace {

using Dims = std::vector<std::int64_t>;

std::string operand(const TensorDesc& tensor) {
  return fmt::format("{} {}", quoted_name(tensor.name), describe(tensor));
}

/// One op while its rules are checked.
struct Context {
  OpKind kind;
  const std::vector<const TensorDesc*>& inputs;
  const OpAttributes& given;

  const TensorDesc& input(std::size_t i) const { return *inputs.at(i); }

  [[noreturn]] void refuse(const std::string& expected, const std::string& found) const {
    refuse_op(kind, expected, found);
  }

  void require_inputs(std::size_t low, std::size_t high) const {
    if (inputs.size() < low || inputs.size() > high) {
      refuse(
          low == high ? fmt::format("{} input{}", low, low == 1 ? "" : "s")
                      : fmt::format("{} or {} inputs", low, high),
          std::to_string(inputs.size())
      );
    }
  }

  /// The dtype that all inputs share.
  DType require_floating() const {
    for (const TensorDesc* tensor : inputs) {
      if (!is_floating(tensor->dtype)) {
        refuse("operands of f32, bf16 or f16", operand(*tensor));
      }
      if (tensor->dtype != input(0).dtype) {
        refuse(
            fmt::format(
                "operands of one dtype ({} is {}; add a cast)",
                quoted_name(input(0).name),
                dtype_name(input(0).dtype)
            ),
            operand(*tensor)
        );
      }
    }
    return input(0).dtype;
  }

  void require_rank_2(std::size_t i) const {
    if (input(i).shape.size() != 2) {
      refuse("operands with 2 dimensions", operand(input(i)));
    }
  }

  double require_finite(double value, const char* attribute) const {
    if (!std::isfinite(value)) {
      refuse(fmt::format("a finite {}", attribute), fmt::format("{}", value));
    }
    return value;
  }

  /// The common shape of all inputs, aligned at the last dimension.
  Dims broadcast() const {
    Dims shape;
    for (const TensorDesc* tensor : inputs) {
      const Dims& sizes = tensor->shape;
      if (sizes.size() > shape.size()) {
        shape.insert(shape.begin(), sizes.size() - shape.size(), 1);
      }
      const std::size_t added = shape.size() - sizes.size();
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        std::int64_t& size = shape[d + added];
        if (size != sizes[d] && size != 1 && sizes[d] != 1) {
          refuse(fmt::format("shapes that broadcast with {}", operand(input(0))), operand(*tensor));
        }
        size = size == 1 ? sizes[d] : size;
      }
    }
    return shape;
  }

  Inferred dense(Dims shape, DType dtype, OpAttributes attributes = {}) const {
    return {dense_result(kind, std::move(shape), dtype), std::move(attributes)};
  }
};

Dims product_shape(const Context& op, std::size_t a, std::size_t b) {
  op.require_rank_2(a);
  op.require_rank_2(b);
  if (op.input(a).shape[1] != op.input(b).shape[0]) {
    op.refuse(
        fmt::format(
            "{} rows in the second matrix, as many as {} has columns",
            op.input(a).shape[1],
            operand(op.input(a))
        ),
        operand(op.input(b))
    );
  }
  return {op.input(a).shape[0], op.input(b).shape[1]};
}

Inferred infer_mm(const Context& op) {
  op.require_inputs(2, 2);
  const DType dtype = op.require_floating();
  return op.dense(product_shape(op, 0, 1), dtype);
}

Inferred infer_addmm(const Context& op) {
  op.require_inputs(3, 3);
  const DType dtype = op.require_floating();
  const Dims shape = product_shape(op, 1, 2);
  const Dims& bias = op.input(0).shape;
  bool fits = bias.size() <= 2;
  for (std::size_t d = 0; fits && d < bias.size(); ++d) {
    fits = bias[d] == 1 || bias[d] == shape[d + 2 - bias.size()];
  }
  if (!fits) {
    op.refuse(
        fmt::format("a bias that expands to [{}]", fmt::join(shape, ", ")), operand(op.input(0))
    );
  }
  OpAttributes kept;
  kept.alpha = op.require_finite(op.given.alpha, "alpha");
  kept.beta = op.require_finite(op.given.beta, "beta");
  return op.dense(shape, dtype, kept);
}

Inferred infer_arithmetic(const Context& op) {
  op.require_inputs(1, 2);
  const DType dtype = op.require_floating();
  OpAttributes kept;
  if (op.kind == OpKind::Add || op.kind == OpKind::Sub) {
    kept.alpha = op.require_finite(op.given.alpha, "alpha");
  }
  if (op.inputs.size() == 1) {
    kept.other = op.given.other;
  }
  return op.dense(op.broadcast(), dtype, kept);
}

Inferred infer_unary(const Context& op) {
  op.require_inputs(1, 1);
  const DType dtype = op.require_floating();
  OpAttributes kept;
  if (op.kind == OpKind::Pow) {
    kept.other = op.require_finite(op.given.other, "exponent");
  }
  return op.dense(op.input(0).shape, dtype, kept);
}

Inferred infer_threshold_backward(const Context& op) {
  op.require_inputs(2, 2);
  const DType dtype = op.require_floating();
  OpAttributes kept;
  kept.other = op.require_finite(op.given.other, "threshold");
  return op.dense(op.broadcast(), dtype, kept);
}

Inferred infer_cast(const Context& op) {
  op.require_inputs(1, 1);
  if (!op.given.dtype) {
    op.refuse("a dtype to cast to", "none");
  }
  if (!is_floating(*op.given.dtype)) {
    op.refuse(
        "a cast to f32, bf16 or f16 (what NaN and infinity become in integers differs by target)",
        std::string(dtype_name(*op.given.dtype))
    );
  }
  OpAttributes kept;
  kept.dtype = op.given.dtype;
  return op.dense(op.input(0).shape, *op.given.dtype, kept);
}

void require_same_shape(const Context& op, std::size_t a, std::size_t b) {
  if (op.input(a).shape != op.input(b).shape) {
    op.refuse(
        fmt::format("the shape of {} (use expand)", operand(op.input(a))), operand(op.input(b))
    );
  }
}

Inferred infer_mse_loss(const Context& op) {
  op.require_inputs(2, 2);
  const DType dtype = op.require_floating();
  require_same_shape(op, 0, 1);
  return op.dense({}, dtype);
}

Inferred infer_mse_loss_backward(const Context& op) {
  op.require_inputs(3, 3);
  const DType dtype = op.require_floating();
  if (!op.input(0).shape.empty()) {
    op.refuse("a 0-d gradient", operand(op.input(0)));
  }
  require_same_shape(op, 1, 2);
  return op.dense(op.input(1).shape, dtype);
}

Inferred infer_full(const Context& op) {
  op.require_inputs(0, 0);
  if (!op.given.dtype) {
    op.refuse("a dtype", "none");
  }
  const double value = op.given.other;
  const DType dtype = *op.given.dtype;
  // Beyond 2^53 a double holds only some of the integers.
  const bool integral = std::trunc(value) == value && std::fabs(value) <= 9007199254740992.0;
  if (!is_floating(dtype) && !(dtype == DType::Bool ? value == 0 || value == 1 : integral)) {
    op.refuse(fmt::format("a value that {} holds", dtype_name(dtype)), fmt::format("{}", value));
  }
  if (dtype == DType::I32 && std::fabs(value) > 2147483647.0) {
    op.refuse("a value that i32 holds", fmt::format("{}", value));
  }
  OpAttributes kept;
  kept.other = value;
  kept.shape = op.given.shape;
  kept.dtype = dtype;
  return op.dense(op.given.shape, dtype, kept);
}

Inferred infer_reduction(const Context& op) {
  op.require_inputs(1, 1);
  const DType dtype = op.require_floating();
  const Dims& sizes = op.input(0).shape;
  std::vector<bool> reduced(std::max<std::size_t>(sizes.size(), 1), op.given.dims.empty());
  for (const std::int64_t dim : op.given.dims) {
    const auto d = static_cast<std::size_t>(wrap_dim(op.kind, dim, sizes.size()));
    if (reduced[d]) {
      op.refuse("each dimension once", fmt::format("dim {} twice", dim));
    }
    reduced[d] = true;
  }
  OpAttributes kept;
  kept.keepdim = op.given.keepdim && !sizes.empty();
  Dims shape;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (reduced[d]) {
      kept.dims.push_back(static_cast<std::int64_t>(d));
    }
    if (!reduced[d]) {
      shape.push_back(sizes[d]);
    } else if (kept.keepdim) {
      shape.push_back(1);
    }
  }
  return op.dense(shape, dtype, kept);
}

}  // namespace

Inferred infer_dense(
    OpKind kind, const std::vector<const TensorDesc*>& inputs, const OpAttributes& attributes
) {
  const Context op{.kind = kind, .inputs = inputs, .given = attributes};
  switch (kind) {
    case OpKind::Mm:
      return infer_mm(op);
    case OpKind::Addmm:
      return infer_addmm(op);
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
      return infer_arithmetic(op);
    case OpKind::Neg:
    case OpKind::Relu:
    case OpKind::Pow:
      return infer_unary(op);
    case OpKind::ThresholdBackward:
      return infer_threshold_backward(op);
    case OpKind::Cast:
      return infer_cast(op);
    case OpKind::MseLoss:
      return infer_mse_loss(op);
    case OpKind::MseLossBackward:
      return infer_mse_loss_backward(op);
    case OpKind::Full:
      return infer_full(op);
    case OpKind::Sum:
    case OpKind::Mean:
      return infer_reduction(op);
    default:
      throw InternalError(fmt::format("op {} has no rule", static_cast<int>(kind)));
  }
}

}  // namespace whet
