#pragma once

#include <string>
#include <vector>

#include "support/programs.hpp"
#include "support/step_runner.hpp"

namespace whet::testing {

/// Sum and mean of one long row: two tasks over one input.
inline Program long_sums(std::int64_t size, DType dtype) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {size}, dtype);
  b.program.outputs = {b.op(OpKind::Sum, {x}), b.op(OpKind::Mean, {x})};
  verify(b.program);
  return b.program;
}

/// Small whole numbers, every one of which a sum must have seen: with fewer than 2^24 in all, f32
/// adds them exactly in any order, so a result is right or wrong to the last bit.
inline StepData whole_numbers(const Program& program) {
  const Philox random(29, 0);
  Values values(static_cast<std::size_t>(num_elements(program.value(0).shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 1.0 + static_cast<double>(random.word(i) % 15);
  }
  return {.inputs = {{values}}, .scalars = {}, .state = {}};
}

/// The step of a linear layer under the mean squared error over rows x columns elements.
inline Program least_squares(
    std::int64_t rows, std::int64_t in, std::int64_t columns, DType dtype
) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {rows, in}, dtype);
  const ValueId y = b.input("y", {rows, columns}, dtype);
  const ValueId w = b.state("w", {in, columns});
  return b.finish(b.op(OpKind::Mm, {x, b.cast(w, dtype)}), y);
}

/// One step of a program at a configuration on an executor.
inline StepResult run_step(
    const Program& program,
    const StepData& data,
    const std::string& configuration,
    const DeviceLimits& limits,
    Executor& executor
) {
  const std::optional<BuiltStep> built = build_step(program, configuration, limits);
  if (!built) {
    return {};
  }
  StepRunner runner(executor, program, built->artifact, built->source.plan, data);
  return runner.run(1);
}

}  // namespace whet::testing
