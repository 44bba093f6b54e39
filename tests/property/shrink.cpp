#include "property/shrink.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "harness/libtorch_arithmetic.hpp"
#include "property/leaf_tensor.hpp"

namespace whet::testing {
namespace {

using Index = std::size_t;

std::vector<at::Tensor> evaluate(const RandomProgram& program) {
  const at::NoGradGuard no_grad;
  const ArithmeticGuard guard(Arithmetic::Reference);
  std::vector<at::Tensor> values(program.forward.values.size());
  for (const ValueId v : program.forward.scalars) {
    values[Index(v)] = at::tensor(program.rate, at::kFloat);
  }
  for (const auto& [v, leaf] : program.leaves) {
    values[Index(v)] = leaf_tensor(program.forward.value(v), leaf);
  }
  walk(program.forward, values, WalkDType::Declared);
  return values;
}

/// The op's result as an input that holds the same numbers.
RandomProgram cut(const RandomProgram& program, Index op) {
  RandomProgram result = program;
  const ValueId v = program.forward.ops[op].output;
  result.forward.ops.erase(result.forward.ops.begin() + static_cast<std::ptrdiff_t>(op));
  result.forward.inputs.push_back({.value = v});
  result.leaves[v] = to_values(evaluate(program)[Index(v)]);
  return pruned(result);
}

}  // namespace

RandomProgram shrunk(
    RandomProgram program, const std::function<bool(const RandomProgram&)>& fails
) {
  while (!program.forward.outputs.empty()) {
    RandomProgram smaller = program;
    smaller.forward.outputs.pop_back();
    smaller = pruned(smaller);
    if (!fails(smaller)) {
      break;
    }
    program = std::move(smaller);
  }
  for (Index i = 0; i < program.forward.state.size(); ++i) {
    RandomProgram smaller = program;
    smaller.forward.state[i].after = smaller.forward.state[i].before;
    if (fails(smaller)) {
      program = std::move(smaller);
    }
  }
  for (Index op = program.forward.ops.size(); op-- > 0;) {
    if (op >= program.forward.ops.size()) {
      continue;  // pruned away with another
    }
    RandomProgram smaller = cut(program, op);
    if (fails(smaller)) {
      program = std::move(smaller);
    }
  }
  return program;
}

}  // namespace whet::testing
