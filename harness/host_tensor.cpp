#include "harness/host_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/half.hpp"
#include "base/philox.hpp"

namespace whet {
namespace {

template <typename T>
T load(const HostTensor& tensor, std::size_t i) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store(HostTensor& tensor, std::size_t i, T value) {
  std::memcpy(tensor.bytes.data() + i * sizeof(T), &value, sizeof(T));
}

double element(const HostTensor& tensor, std::size_t i) {
  switch (tensor.dtype) {
    case DType::F64:
      return load<double>(tensor, i);
    case DType::F32:
      return static_cast<double>(load<float>(tensor, i));
    case DType::BF16:
      return static_cast<double>(bf16_to_f32(load<std::uint16_t>(tensor, i)));
    case DType::F16:
      return static_cast<double>(f16_to_f32(load<std::uint16_t>(tensor, i)));
    case DType::I64:
      return static_cast<double>(load<std::int64_t>(tensor, i));
    case DType::I32:
      return static_cast<double>(load<std::int32_t>(tensor, i));
    case DType::Bool:
      return load<std::uint8_t>(tensor, i) != 0 ? 1.0 : 0.0;
  }
  throw InternalError("unknown dtype");
}

void set_element(HostTensor& tensor, std::size_t i, double value) {
  switch (tensor.dtype) {
    case DType::F64:
      return store(tensor, i, value);
    case DType::F32:
      return store(tensor, i, static_cast<float>(value));
    case DType::BF16:
      return store(tensor, i, f32_to_bf16(static_cast<float>(value)));
    case DType::F16:
      return store(tensor, i, f32_to_f16(static_cast<float>(value)));
    case DType::I64:
      return store(tensor, i, static_cast<std::int64_t>(value));
    case DType::I32:
      return store(tensor, i, static_cast<std::int32_t>(value));
    case DType::Bool:
      return store(tensor, i, static_cast<std::uint8_t>(value != 0.0 ? 1 : 0));
  }
}

HostTensor empty_tensor(DType dtype, std::vector<std::int64_t> shape) {
  HostTensor tensor{.dtype = dtype, .shape = std::move(shape), .bytes = {}};
  tensor.bytes.resize(static_cast<std::size_t>(dense_bytes(dtype, tensor.shape)));
  return tensor;
}

std::size_t count(const HostTensor& tensor) {
  return tensor.bytes.size() / static_cast<std::size_t>(dtype_bytes(tensor.dtype));
}

/// floor((word + 0.5) / 2^32 * range) in integers, so that no rounding reaches `range` itself.
std::int64_t scaled_word(std::uint32_t word, std::uint64_t range) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>((Wide{2} * word + 1) * range >> 33);
}

void require_float(const Fill& fill, const TensorDesc& tensor) {
  const char* name = fill.kind == Fill::Kind::Normal ? "normal" : "uniform";
  if (!is_compute_dtype(tensor.dtype) && tensor.dtype != DType::F64) {
    throw UserError(fmt::format(
        "{}: a \"{}\" fill draws fractions, but the dtype is {}; use \"integers\", \"zeros\" or "
        "\"ones\"",
        tensor.name,
        name,
        dtype_name(tensor.dtype)
    ));
  }
}

void fill_integers(HostTensor& out, const Fill& fill, const TensorDesc& tensor, Philox random) {
  if (fill.high <= fill.low) {
    throw UserError(fmt::format(
        "{}: \"integers\" needs low < high, found {} and {}", tensor.name, fill.low, fill.high
    ));
  }
  const auto range = static_cast<std::uint64_t>(fill.high) - static_cast<std::uint64_t>(fill.low);
  for (std::size_t i = 0; i < count(out); ++i) {
    const std::int64_t drawn = fill.low + scaled_word(random.word(i), range);
    if (out.dtype == DType::I64) {
      store(out, i, drawn);
    } else {
      set_element(out, i, static_cast<double>(drawn));
    }
  }
}

/// Along the last dimension each row is 1 at a drawn place and 0 elsewhere.
void fill_one_hot(HostTensor& out, const TensorDesc& tensor, Philox random) {
  if (tensor.shape.empty()) {
    throw UserError(fmt::format("{}: a \"one_hot\" fill needs at least one dimension", tensor.name)
    );
  }
  const auto num_classes = static_cast<std::size_t>(tensor.shape.back());
  for (std::size_t row = 0; num_classes > 0 && row < count(out) / num_classes; ++row) {
    const std::int64_t hot = scaled_word(random.word(row), num_classes);
    set_element(out, row * num_classes + static_cast<std::size_t>(hot), 1.0);
  }
}

}  // namespace

std::int64_t dense_bytes(DType dtype, const std::vector<std::int64_t>& shape) {
  const bool empty = std::ranges::find(shape, 0) != shape.end();
  std::int64_t bytes = empty ? 0 : dtype_bytes(dtype);
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) {
      throw UserError(
          fmt::format("a {} tensor of this shape does not fit memory", dtype_name(dtype))
      );
    }
  }
  return bytes;
}

std::vector<double> to_doubles(const HostTensor& tensor) {
  std::vector<double> values(count(tensor));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = element(tensor, i);
  }
  return values;
}

HostTensor from_doubles(
    DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values
) {
  HostTensor tensor = empty_tensor(dtype, std::move(shape));
  WHET_CHECK(count(tensor) == values.size(), "{} values for {}", values.size(), count(tensor));
  for (std::size_t i = 0; i < values.size(); ++i) {
    set_element(tensor, i, values[i]);
  }
  return tensor;
}

HostTensor fill_tensor(
    const Fill& fill, const TensorDesc& tensor, std::uint64_t seed, std::uint64_t stream
) {
  const Philox random(seed, stream);
  HostTensor out = empty_tensor(tensor.dtype, tensor.shape);
  switch (fill.kind) {
    case Fill::Kind::Normal:
      require_float(fill, tensor);
      for (std::size_t i = 0; i < count(out); ++i) {
        set_element(out, i, fill.scale * random.normal(i));
      }
      break;
    case Fill::Kind::Uniform:
      require_float(fill, tensor);
      for (std::size_t i = 0; i < count(out); ++i) {
        set_element(out, i, fill.scale * (2.0 * random.uniform(i) - 1.0));
      }
      break;
    case Fill::Kind::Zeros:
      break;
    case Fill::Kind::Ones:
      for (std::size_t i = 0; i < count(out); ++i) {
        set_element(out, i, 1.0);
      }
      break;
    case Fill::Kind::Integers:
      fill_integers(out, fill, tensor, random);
      break;
    case Fill::Kind::OneHot:
      fill_one_hot(out, tensor, random);
      break;
  }
  return out;
}

std::uint64_t input_stream(const Workload& workload, std::size_t batch_idx, std::size_t input_idx) {
  return batch_idx * workload.step.inputs.size() + input_idx;
}

std::uint64_t state_stream(std::size_t state_idx) {
  // Above any (batch, input) position.
  return (std::uint64_t{1} << 32) + state_idx;
}

}  // namespace whet
