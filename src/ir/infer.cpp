#include "ir/infer.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace whet {

void refuse_op(OpKind kind, const std::string& expected, const std::string& found) {
  throw UserError(fmt::format("{}: expected {}, found {}", op_name(kind), expected, found));
}

std::int64_t wrap_dim(OpKind kind, std::int64_t dim, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (dim < -count || dim >= count) {
    refuse_op(
        kind,
        fmt::format("a dimension of {} to {} for {}-d", -count, count - 1, rank),
        std::to_string(dim)
    );
  }
  return dim < 0 ? dim + count : dim;
}

std::optional<std::string> exceeded_limit(const std::vector<std::int64_t>& shape) {
  if (shape.size() > kMaxRank) {
    return fmt::format("at most {} dimensions", kMaxRank);
  }
  // Sizes of zero count as one, so that the strides of empty tensors stay in range as well.
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || size > kMaxDim) {
      return fmt::format("sizes of 0 to {}", kMaxDim);
    }
    const std::int64_t factor = std::max<std::int64_t>(size, 1);
    if (count > kMaxElements / factor) {
      return fmt::format("at most {} elements", kMaxElements);
    }
    count *= factor;
  }
  return std::nullopt;
}

TensorDesc dense_result(OpKind kind, std::vector<std::int64_t> shape, DType dtype) {
  if (const std::optional<std::string> limit = exceeded_limit(shape)) {
    // Thousands of dimensions would make a message that nobody reads.
    const std::string found = shape.size() > kMaxRank ? fmt::format("{} dimensions", shape.size())
                                                      : fmt::format("[{}]", fmt::join(shape, ", "));
    refuse_op(kind, *limit, found);
  }
  std::vector<std::int64_t> strides = contiguous_strides(shape);
  return {.name = "", .shape = std::move(shape), .strides = std::move(strides), .dtype = dtype};
}

Inferred infer(
    const Program& program,
    OpKind kind,
    const std::vector<ValueId>& inputs,
    const OpAttributes& attributes
) {
  std::vector<const TensorDesc*> tensors;
  for (const ValueId id : inputs) {
    WHET_CHECK(
        id >= 0 && static_cast<std::size_t>(id) < program.values.size(),
        "{}: value {} of {}",
        op_name(kind),
        id,
        program.values.size()
    );
    tensors.push_back(&program.value(id));
  }
  if (!is_view(kind) && kind != OpKind::SelectBackward && kind != OpKind::SliceBackward) {
    return infer_dense(kind, tensors, attributes);
  }
  if (tensors.size() != 1) {
    refuse_op(kind, "1 input", std::to_string(tensors.size()));
  }
  return infer_view(kind, *tensors.front(), attributes);
}

}  // namespace whet
