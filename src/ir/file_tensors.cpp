#include "ir/file_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>

namespace whet {
namespace {

DType read_dtype(const JsonCursor& cursor) {
  const std::string name = cursor.as_string();
  const std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || *dtype == DType::F64) {
    cursor.fail(
        "f32, bf16, f16, i64, i32 or bool",
        quoted_name(name) + (dtype ? " (only the reference computes in it)" : "")
    );
  }
  return *dtype;
}

struct FillKind {
  Fill::Kind kind;
  std::string_view name;
};
constexpr std::array kFillKinds{
    FillKind{Fill::Kind::Normal, "normal"},
    FillKind{Fill::Kind::Uniform, "uniform"},
    FillKind{Fill::Kind::Zeros, "zeros"},
    FillKind{Fill::Kind::Ones, "ones"},
    FillKind{Fill::Kind::Integers, "integers"},
    FillKind{Fill::Kind::OneHot, "one_hot"},
};

/// A number, or {"rsqrt": "in"}: 1 / sqrt of a dimension, counted as one at least.
double read_scale(const JsonCursor& cursor, const DimTable& dims) {
  if (cursor.is_object()) {
    cursor.allow_only({"rsqrt"});
    const std::int64_t size = dims.named(cursor.at("rsqrt"));
    return 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(size, 1)));
  }
  const double scale = cursor.as_number();
  if (scale < 0.0) {
    cursor.fail("a scale of at least 0");
  }
  return scale;
}

/// Both bounds, and the dtype holds what lies between.
void read_bounds(const JsonCursor& cursor, DType dtype, Fill& fill) {
  // Floating dtypes: integers that f32 holds exactly.
  std::int64_t limit = dtype == DType::I32 ? std::int64_t{1} << 31 : std::int64_t{1} << 24;
  limit = dtype == DType::I64 ? std::int64_t{1} << 53 : limit;
  const bool is_bool = dtype == DType::Bool;
  fill.low = cursor.at("low").as_integer(is_bool ? 0 : -limit, is_bool ? 1 : limit - 1);
  fill.high = cursor.at("high").as_integer(fill.low + 1, is_bool ? 2 : limit);
}

Fill read_fill(const JsonCursor& cursor, const TensorDesc& tensor, const DimTable& dims) {
  const JsonCursor kind = cursor.at("kind");
  const std::string name = kind.as_string();
  const auto row = std::find_if(kFillKinds.begin(), kFillKinds.end(), [&](const FillKind& each) {
    return each.name == name;
  });
  if (row == kFillKinds.end()) {
    kind.fail("normal, uniform, zeros, ones, integers or one_hot");
  }
  Fill fill{.kind = row->kind};
  switch (fill.kind) {
    case Fill::Kind::Normal:
    case Fill::Kind::Uniform:
      cursor.allow_only({"kind", "scale"});
      if (!is_compute_dtype(tensor.dtype)) {
        kind.fail(
            fmt::format("zeros, ones or integers for {}", dtype_name(tensor.dtype)),
            quoted_name(name)
        );
      }
      if (const std::optional<JsonCursor> scale = cursor.find("scale")) {
        fill.scale = read_scale(*scale, dims);
      }
      break;
    case Fill::Kind::Integers:
      cursor.allow_only({"kind", "low", "high"});
      read_bounds(cursor, tensor.dtype, fill);
      break;
    case Fill::Kind::OneHot:
      cursor.allow_only({"kind"});
      if (tensor.shape.empty()) {
        kind.fail("one_hot only for a tensor with at least 1 dimension", "a 0-d one");
      }
      break;
    case Fill::Kind::Zeros:
    case Fill::Kind::Ones:
      cursor.allow_only({"kind"});
      break;
  }
  return fill;
}

/// Name, shape and dtype, with contiguous strides.
TensorDesc read_tensor(const JsonCursor& cursor, const DimTable& dims) {
  TensorDesc tensor{
      .name = read_name(cursor.at("name")),
      .shape = dims.shape(cursor.at("shape")),
      .dtype = read_dtype(cursor.at("dtype"))};
  tensor.strides = contiguous_strides(tensor.shape);
  return tensor;
}

std::vector<std::int64_t> read_strides(const JsonCursor& list, const TensorDesc& tensor) {
  std::vector<std::int64_t> strides;
  for (const JsonCursor& entry : list.items()) {
    strides.push_back(entry.as_integer(0, kMaxElements));
  }
  if (strides.size() != tensor.shape.size()) {
    list.fail(
        fmt::format("{} strides, one for each dimension", tensor.shape.size()),
        std::to_string(strides.size())
    );
  }
  std::int64_t room = kMaxElements;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const std::int64_t steps = std::max<std::int64_t>(tensor.shape[d] - 1, 0);
    if (steps > 0 && strides[d] > room / steps) {
      list.fail(fmt::format("strides that reach at most {} elements", kMaxElements));
    }
    room -= steps * strides[d];
  }
  return strides;
}

ValueId add_value(
    const JsonCursor& cursor, TensorDesc tensor, NameTable& names, Workload& workload
) {
  const auto value = static_cast<ValueId>(workload.step.values.size());
  names.define(cursor.at("name"), tensor.name, value);
  workload.step.values.push_back(std::move(tensor));
  return value;
}

void read_input(
    const JsonCursor& cursor, const DimTable& dims, NameTable& names, Workload& workload
) {
  cursor.allow_only({"name", "shape", "dtype", "fill", "stable", "strides", "alignment"});
  TensorDesc tensor = read_tensor(cursor, dims);
  if (const std::optional<JsonCursor> strides = cursor.find("strides")) {
    tensor.strides = read_strides(*strides, tensor);
  }
  ProgramInput input;
  if (const std::optional<JsonCursor> stable = cursor.find("stable")) {
    input.stable = stable->as_bool();
  }
  if (const std::optional<JsonCursor> alignment = cursor.find("alignment")) {
    constexpr std::int64_t kMaxAlignment = 4096;  // a page: nothing asks for more
    input.alignment_bytes = alignment->as_integer(dtype_bytes(tensor.dtype), kMaxAlignment);
    if (!std::has_single_bit(static_cast<std::uint64_t>(input.alignment_bytes))) {
      alignment->fail("a power of two");
    }
  }
  workload.input_fills.push_back(read_fill(cursor.at("fill"), tensor, dims));
  input.value = add_value(cursor, std::move(tensor), names, workload);
  workload.step.inputs.push_back(input);
}

void read_scalar(const JsonCursor& cursor, NameTable& names, Workload& workload) {
  cursor.allow_only({"name", "dtype", "value"});
  TensorDesc tensor{.name = read_name(cursor.at("name")), .dtype = read_dtype(cursor.at("dtype"))};
  const JsonCursor value = cursor.at("value");
  if (tensor.dtype == DType::F32) {
    const double number = value.as_number();
    if (std::fabs(number) > static_cast<double>(FLT_MAX)) {
      value.fail("a number that f32 holds");
    }
    workload.scalar_values.push_back(number);
  } else if (tensor.dtype == DType::I64) {
    constexpr std::int64_t kExact = std::int64_t{1} << 53;  // values are kept as doubles
    workload.scalar_values.push_back(static_cast<double>(value.as_integer(-kExact, kExact)));
  } else {
    cursor.at("dtype").fail("f32 or i64 for a scalar");
  }
  workload.step.scalars.push_back(add_value(cursor, std::move(tensor), names, workload));
}

void read_state(
    const JsonCursor& cursor, const DimTable& dims, NameTable& names, Workload& workload
) {
  cursor.allow_only({"name", "shape", "dtype", "fill"});
  TensorDesc tensor = read_tensor(cursor, dims);
  workload.state_fills.push_back(read_fill(cursor.at("fill"), tensor, dims));
  const ValueId value = add_value(cursor, std::move(tensor), names, workload);
  workload.step.state.push_back({.before = value, .after = value});
}

std::vector<JsonCursor> list_of(const JsonCursor& root, const char* key) {
  const std::optional<JsonCursor> list = root.find(key);
  return list ? list->items() : std::vector<JsonCursor>();
}

}  // namespace

void read_tensors(
    const JsonCursor& root, const DimTable& dims, NameTable& names, Workload& workload
) {
  for (const JsonCursor& input : list_of(root, "inputs")) {
    read_input(input, dims, names, workload);
  }
  for (const JsonCursor& scalar : list_of(root, "scalars")) {
    read_scalar(scalar, names, workload);
  }
  for (const JsonCursor& state : list_of(root, "state")) {
    read_state(state, dims, names, workload);
  }
}

}  // namespace whet
