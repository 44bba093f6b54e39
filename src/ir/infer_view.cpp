#include <fmt/ranges.h>

#include <algorithm>

#include "ir/infer.hpp"

namespace whet {
namespace {

using Dims = std::vector<std::int64_t>;

std::string text(const Dims& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Inferred view(OpKind kind, const TensorDesc& a, Dims shape, Dims strides, OpAttributes attributes) {
  TensorDesc result = dense_result(kind, std::move(shape), a.dtype);  // checks the limits
  result.strides = std::move(strides);
  return {std::move(result), std::move(attributes)};
}

std::size_t only_dim(OpKind kind, const OpAttributes& given, std::size_t rank) {
  if (given.dims.size() != 1) {
    refuse_op(kind, "one dim", std::to_string(given.dims.size()));
  }
  if (rank == 0) {
    refuse_op(kind, "a tensor with at least 1 dimension", "a 0-d one");
  }
  return static_cast<std::size_t>(wrap_dim(kind, given.dims[0], rank));
}

Inferred infer_transpose(const TensorDesc& a, const OpAttributes& given) {
  if (given.dims.size() != 2) {
    refuse_op(OpKind::Transpose, "two dims", std::to_string(given.dims.size()));
  }
  OpAttributes kept;
  for (const std::int64_t dim : given.dims) {
    kept.dims.push_back(wrap_dim(OpKind::Transpose, dim, a.shape.size()));
  }
  std::sort(kept.dims.begin(), kept.dims.end());
  Dims shape = a.shape;
  Dims strides = a.strides;
  if (!shape.empty()) {
    const auto d0 = static_cast<std::size_t>(kept.dims[0]);
    const auto d1 = static_cast<std::size_t>(kept.dims[1]);
    std::swap(shape[d0], shape[d1]);
    std::swap(strides[d0], strides[d1]);
  }
  return view(OpKind::Transpose, a, shape, strides, kept);
}

Inferred infer_permute(const TensorDesc& a, const OpAttributes& given) {
  const std::size_t rank = a.shape.size();
  if (given.dims.size() != rank) {
    refuse_op(OpKind::Permute, fmt::format("{} dims", rank), std::to_string(given.dims.size()));
  }
  OpAttributes kept;
  Dims shape;
  Dims strides;
  std::vector<bool> seen(rank, false);
  for (const std::int64_t dim : given.dims) {
    const auto d = static_cast<std::size_t>(wrap_dim(OpKind::Permute, dim, rank));
    if (seen[d]) {
      refuse_op(OpKind::Permute, "each dimension once", fmt::format("dim {} twice", dim));
    }
    seen[d] = true;
    kept.dims.push_back(static_cast<std::int64_t>(d));
    shape.push_back(a.shape[d]);
    strides.push_back(a.strides[d]);
  }
  return view(OpKind::Permute, a, shape, strides, kept);
}

/// `given` with its -1 replaced by what `count` elements leave for it.
Dims complete_shape(const TensorDesc& a, const Dims& given) {
  const std::int64_t count = num_elements(a.shape);
  Dims shape = given;
  auto missing = shape.end();
  for (auto size = shape.begin(); size != shape.end(); ++size) {
    if (*size == -1 && missing == shape.end()) {
      missing = size;
      *size = 1;
    } else if (*size < 0) {
      refuse_op(OpKind::Reshape, "sizes of at least 0, or one -1", text(given));
    }
  }
  const std::int64_t rest = num_elements(dense_result(OpKind::Reshape, shape, a.dtype).shape);
  if (missing != shape.end() && rest != 0 && count % rest == 0) {
    *missing = count / rest;
  }
  if (num_elements(shape) != count || (missing != shape.end() && rest == 0)) {
    refuse_op(
        OpKind::Reshape,
        fmt::format("a shape with the {} elements of {}", count, describe(a)),
        text(given)
    );
  }
  return shape;
}

Inferred infer_reshape(const TensorDesc& a, const OpAttributes& given) {
  OpAttributes kept;
  kept.shape = complete_shape(a, given.shape);
  std::optional<Dims> strides = reshape_strides(a, kept.shape);
  if (!strides) {
    strides = contiguous_strides(kept.shape);  // a copy
  }
  return view(OpKind::Reshape, a, kept.shape, *strides, kept);
}

/// Source: ATen, ExpandUtils.cpp, inferExpandGeometry.
Inferred infer_expand(const TensorDesc& a, const OpAttributes& given) {
  const std::size_t rank = given.shape.size();
  const auto refuse = [&] {
    refuse_op(
        OpKind::Expand, fmt::format("a shape that {} expands to", describe(a)), text(given.shape)
    );
  };
  if (rank < a.shape.size() || rank > kMaxRank) {
    refuse();
  }
  const std::size_t added = rank - a.shape.size();
  OpAttributes kept;
  kept.shape = given.shape;
  Dims strides(rank, 0);
  for (std::size_t d = rank; d-- > 0;) {
    std::int64_t& size = kept.shape[d];
    if (d >= added && (size == -1 || size == a.shape[d - added])) {
      size = a.shape[d - added];
      strides[d] = a.strides[d - added];
    } else if (size < 0 || (d >= added && a.shape[d - added] != 1)) {
      refuse();
    } else if (d < added && size == 1 && !a.shape.empty()) {  // a new dimension of one
      strides[d] = kept.shape[d + 1] * strides[d + 1];
    }
  }
  return view(OpKind::Expand, a, kept.shape, strides, kept);
}

/// Shape of the part of `base` that a select or slice takes; makes the attributes canonical.
Dims part_of(OpKind kind, const Dims& base, const OpAttributes& given, OpAttributes& kept) {
  const std::size_t d = only_dim(kind, given, base.size());
  kept.dims = {static_cast<std::int64_t>(d)};
  const std::int64_t size = base[d];
  Dims shape = base;
  if (kind == OpKind::Select || kind == OpKind::SelectBackward) {
    if (given.index < -size || given.index >= size) {
      refuse_op(
          kind,
          fmt::format("an index within dimension {} of {}", d, text(base)),
          std::to_string(given.index)
      );
    }
    kept.index = given.index < 0 ? given.index + size : given.index;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
    return shape;
  }
  if (given.step < 1) {
    refuse_op(kind, "a step of at least 1", std::to_string(given.step));
  }
  const auto bound = [size](std::int64_t value, std::int64_t low) {
    return std::clamp(value < 0 ? value + size : value, low, size);
  };
  kept.start = bound(given.start, 0);
  kept.end = bound(given.end, kept.start);
  kept.step = given.step;
  const std::int64_t span = kept.end - kept.start;
  shape[d] = span / kept.step + (span % kept.step != 0 ? 1 : 0);
  return shape;
}

Inferred infer_part(OpKind kind, const TensorDesc& a, const OpAttributes& given) {
  OpAttributes kept;
  Dims shape = part_of(kind, a.shape, given, kept);
  Dims strides = a.strides;
  const auto d = kept.dims[0];
  if (kind == OpKind::Select) {
    strides.erase(strides.begin() + d);
  } else {
    strides[static_cast<std::size_t>(d)] *= kept.step;
  }
  return view(kind, a, shape, strides, kept);
}

Inferred infer_part_backward(OpKind kind, const TensorDesc& grad, const OpAttributes& given) {
  TensorDesc result = dense_result(kind, given.shape, grad.dtype);
  OpAttributes kept;
  kept.shape = given.shape;
  const Dims part = part_of(kind, given.shape, given, kept);
  if (part != grad.shape) {
    refuse_op(kind, fmt::format("a gradient of shape {}", text(part)), describe(grad));
  }
  return {std::move(result), std::move(kept)};
}

}  // namespace

Inferred infer_view(OpKind kind, const TensorDesc& a, const OpAttributes& attributes) {
  switch (kind) {
    case OpKind::Transpose:
      return infer_transpose(a, attributes);
    case OpKind::Permute:
      return infer_permute(a, attributes);
    case OpKind::Reshape:
      return infer_reshape(a, attributes);
    case OpKind::Expand:
      return infer_expand(a, attributes);
    case OpKind::Select:
    case OpKind::Slice:
      return infer_part(kind, a, attributes);
    case OpKind::SelectBackward:
    case OpKind::SliceBackward:
      return infer_part_backward(kind, a, attributes);
    default:
      WHET_CHECK(false, "{} is no view", op_name(kind));
  }
}

}  // namespace whet
