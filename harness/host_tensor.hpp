#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "ir/workload.hpp"

namespace whet {

/// A dense row-major tensor in host memory, in its own dtype.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;

  bool operator==(const HostTensor&) const = default;
};

/// Bytes of a dense tensor. Throws UserError when they do not fit 63 bits.
std::int64_t dense_bytes(DType dtype, const std::vector<std::int64_t>& shape);

/// Elements in row-major order; booleans are 0 and 1, integers lose digits above 2^53.
std::vector<double> to_doubles(const HostTensor& tensor);

/// The tensor whose elements are `values`, rounded as LibTorch rounds a double: to f32 first, then
/// to bf16 or f16. Integers are truncated.
HostTensor from_doubles(
    DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values
);

/// Initial values by a fill, from Philox stream (seed, stream); docs/formats/bundle.md has the
/// formulas, which are the same in Python. Layout does not count: element i is the i-th in
/// row-major order. Throws UserError for a fill that the dtype cannot hold.
HostTensor fill_tensor(
    const Fill& fill, const TensorDesc& tensor, std::uint64_t seed, std::uint64_t stream
);

/// Stream of an input's values in one of the resident batches, and of a state tensor's initial
/// values: a state tensor starts alike whatever the number of batches.
std::uint64_t input_stream(const Workload& workload, std::size_t batch_idx, std::size_t input_idx);
std::uint64_t state_stream(std::size_t state_idx);

}  // namespace whet
