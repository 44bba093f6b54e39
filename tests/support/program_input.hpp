#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/program.hpp"

namespace whet::testing {

/// Adds an input without strides of its own.
inline ValueId input(
    Program& program,
    std::vector<std::int64_t> shape,
    DType dtype = DType::F32,
    std::string name = "a"
) {
  TensorDesc tensor{.name = std::move(name), .shape = std::move(shape), .dtype = dtype};
  tensor.strides = contiguous_strides(tensor.shape);
  program.values.push_back(std::move(tensor));
  const auto id = static_cast<ValueId>(program.values.size() - 1);
  program.inputs.push_back({.value = id});
  return id;
}

}  // namespace whet::testing
