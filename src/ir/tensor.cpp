#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.hpp"
#include "ir/program.hpp"

namespace whet {
namespace {

using Dims = std::vector<std::int64_t>;

}  // namespace

std::int64_t num_elements(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return count;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = std::max<std::int64_t>(shape[d], 1) * strides[d];
  }
  return strides;
}

std::int64_t storage_extent(const TensorDesc& tensor) {
  if (num_elements(tensor.shape) == 0) {
    return 0;
  }
  std::int64_t last = 0;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    last += (tensor.shape[d] - 1) * tensor.strides.at(d);
  }
  return last + 1;
}

bool is_contiguous(const TensorDesc& tensor) {
  if (num_elements(tensor.shape) == 0) {
    return true;
  }
  std::int64_t expected = 1;
  for (std::size_t d = tensor.shape.size(); d-- > 0;) {
    if (tensor.shape[d] == 1) {
      continue;  // the stride of a dimension of one is never used
    }
    if (tensor.strides.at(d) != expected) {
      return false;
    }
    expected *= tensor.shape[d];
  }
  return true;
}

std::optional<std::vector<std::int64_t>> reshape_strides(
    const TensorDesc& tensor, const std::vector<std::int64_t>& shape
) {
  const Dims& sizes = tensor.shape;
  const Dims& strides = tensor.strides;
  if (sizes.empty()) {
    return Dims(shape.size(), 1);
  }
  if (num_elements(sizes) == 0) {
    return sizes == shape ? strides : contiguous_strides(shape);
  }
  Dims result(shape.size(), 0);
  std::size_t view_d = shape.size();  // dimensions of `shape` at and above it have their stride
  std::int64_t base_stride = strides.back();
  std::int64_t chunk = 1;   // elements of the run of dimensions that step like one
  std::int64_t filled = 1;  // of them, those that dimensions of `shape` cover
  for (std::size_t d = sizes.size(); d-- > 0;) {
    chunk *= sizes[d];
    const bool ends = d == 0 || (sizes[d - 1] != 1 && strides[d - 1] != chunk * base_stride);
    if (!ends) {
      continue;
    }
    while (view_d > 0 && (filled < chunk || shape[view_d - 1] == 1)) {
      --view_d;
      result[view_d] = filled * base_stride;
      filled *= shape[view_d];
    }
    if (filled != chunk) {
      return std::nullopt;
    }
    if (d > 0) {
      base_stride = strides[d - 1];
      chunk = 1;
      filled = 1;
    }
  }
  return view_d == 0 ? std::optional(result) : std::nullopt;
}

std::string quoted_name(const std::string& name) {
  constexpr std::size_t kMaxShown = 80;
  std::size_t end = std::min(name.size(), kMaxShown);
  while (end < name.size() && end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0u) == 0x80u) {
    --end;  // not inside a UTF-8 sequence
  }
  const std::string shown = name.substr(0, end) + (end < name.size() ? "…" : "");
  return Json(shown).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string describe(const TensorDesc& tensor) {
  return fmt::format("[{}] {}", fmt::join(tensor.shape, ", "), dtype_name(tensor.dtype));
}

}  // namespace whet
