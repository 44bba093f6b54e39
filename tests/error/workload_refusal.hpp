#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "ir/workload.hpp"

namespace whet::testing {

/// A small file that is accepted.
inline constexpr std::string_view kBase =
    R"({"schema": "whet.workload/1", "name": "base", "dims": {"n": 4},
  "inputs": [{"name": "x", "shape": ["n", 3], "dtype": "f32", "fill": {"kind": "normal"}},
             {"name": "t", "shape": ["n", 2], "dtype": "f32", "fill": {"kind": "normal"}}],
  "scalars": [{"name": "lr", "dtype": "f32", "value": 0.001}],
  "state": [{"name": "w", "shape": [3, 2], "dtype": "f32", "fill": {"kind": "normal"}}],
  "forward": [{"op": "mm", "in": ["x", "w"], "out": "y"},
              {"op": "mse_loss", "in": ["y", "t"], "out": "loss"}],
  "loss": "loss", "optimizer": {"kind": "sgd", "lr": "lr"}, "outputs": ["loss"]})";

/// What parsing says, or "accepted".
inline std::string refusal(const std::string& text, const DimOverrides& dims = {}) {
  try {
    parse_workload(text, "f.json", dims);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

/// What is said about kBase after one replacement.
inline std::string changed(std::string_view from, std::string_view to) {
  std::string text(kBase);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return refusal(text.replace(at, from.size(), to));
}

/// What is said about `op` as the first op, which may use x [4, 3], t [4, 2], w [3, 2] and lr.
inline std::string with_op(const std::string& op) {
  return changed(R"("forward": [)", R"("forward": [)" + op + ", ");
}

}  // namespace whet::testing
