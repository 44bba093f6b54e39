#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "ir/program.hpp"

namespace whet {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::array<DTypeRow, 7> kDTypes{{
    {DType::F64, "f64", 8},
    {DType::F32, "f32", 4},
    {DType::BF16, "bf16", 2},
    {DType::F16, "f16", 2},
    {DType::I64, "i64", 8},
    {DType::I32, "i32", 4},
    {DType::Bool, "bool", 1},
}};

const DTypeRow& row_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view dtype_name(DType dtype) { return row_of(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) {
      return row.dtype;
    }
  }
  return std::nullopt;
}

std::int64_t dtype_bytes(DType dtype) { return row_of(dtype).bytes; }

bool is_compute_dtype(DType dtype) {
  return dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::F16;
}

std::int64_t num_elements(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    product *= size;
  }
  return product;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * std::max<std::int64_t>(shape[d], 1);
  }
  return strides;
}

std::int64_t storage_extent(const TensorDesc& tensor) {
  if (num_elements(tensor.shape) == 0) {
    return 0;
  }
  std::int64_t last = 0;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    last += (tensor.shape[d] - 1) * tensor.strides[d];
  }
  return last + 1;
}

bool is_contiguous(const TensorDesc& tensor) {
  std::int64_t expected = 1;
  for (std::size_t d = tensor.shape.size(); d-- > 0;) {
    if (tensor.shape[d] != 1 && tensor.strides[d] != expected) {
      return num_elements(tensor.shape) == 0;
    }
    expected *= tensor.shape[d];
  }
  return true;
}

std::string describe(const TensorDesc& tensor) {
  return fmt::format("[{}] {}", fmt::join(tensor.shape, ", "), dtype_name(tensor.dtype));
}

}  // namespace whet
