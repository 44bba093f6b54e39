#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "harness/libtorch_walk.hpp"
#include "support/step_interpreter.hpp"

namespace whet::testing {

/// A LibTorch tensor with the strides and dtype of `tensor` that holds `values` (dense, row-major);
/// elements that share a place share a value.
inline at::Tensor leaf_tensor(const TensorDesc& tensor, const Values& values) {
  const at::Tensor storage =
      at::zeros({storage_extent(tensor)}, at::TensorOptions(scalar_type(tensor.dtype)));
  at::Tensor places = at::zeros(tensor.shape, at::kLong);
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    std::vector<std::int64_t> row(tensor.shape.size(), 1);
    row[d] = tensor.shape[d];
    places = places + at::arange(tensor.shape[d], at::kLong).reshape(row) * tensor.strides[d];
  }
  if (!values.empty()) {
    const at::Tensor dense = at::tensor(values, at::kDouble).to(storage.scalar_type());
    storage.index_put_({places.flatten()}, dense);
  }
  return storage.as_strided(tensor.shape, tensor.strides);
}

/// Elements of a tensor, dense, row-major, as doubles.
inline Values to_values(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.detach().to(at::kDouble).contiguous();
  const double* first = dense.data_ptr<double>();
  return Values(first, first + dense.numel());
}

}  // namespace whet::testing
