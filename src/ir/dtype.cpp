#include <array>

#include "base/error.hpp"
#include "ir/program.hpp"

namespace whet {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::array kRows{
    Row{DType::F64, "f64", 8},
    Row{DType::F32, "f32", 4},
    Row{DType::BF16, "bf16", 2},
    Row{DType::F16, "f16", 2},
    Row{DType::I64, "i64", 8},
    Row{DType::I32, "i32", 4},
    Row{DType::Bool, "bool", 1},
};

const Row& row(DType dtype) {
  for (const Row& candidate : kRows) {
    if (candidate.dtype == dtype) {
      return candidate;
    }
  }
  WHET_CHECK(false, "dtype {} is not in the table", static_cast<int>(dtype));
}

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Row& candidate : kRows) {
    if (candidate.name == name) {
      return candidate.dtype;
    }
  }
  return std::nullopt;
}

std::int64_t dtype_bytes(DType dtype) { return row(dtype).bytes; }

bool is_compute_dtype(DType dtype) {
  return dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::F16;
}

bool is_floating(DType dtype) { return dtype == DType::F64 || is_compute_dtype(dtype); }

}  // namespace whet
