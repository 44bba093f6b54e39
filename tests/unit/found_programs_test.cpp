// Programs that the property test found to be computed wrongly: one a bug, as small as it shrank.
#include <gtest/gtest.h>

#include "support/programs.hpp"
#include "support/step_runner.hpp"

namespace whet {
namespace {

using testing::ProgramBuilder;

/// Runs one step on the CPU target and expects the interpreter's outputs.
void expect_as_interpreted(const Program& program, const std::string& configuration) {
  verify(program);
  const DeviceLimits limits = host_limits(1);
  const testing::StepData data = testing::draw_data(program, 1);
  const auto built = testing::build_step(program, configuration, limits);
  ASSERT_TRUE(built.has_value());
  const auto executor = make_cpu_executor(1);
  testing::StepRunner runner(*executor, program, built->artifact, built->source.plan, data);
  const testing::StepResult expected = testing::interpret(program, data, 1);
  EXPECT_LE(testing::largest_error(runner.run(1), expected, data, 1), 1e-5);
}

TEST(FoundPrograms, AViewThatIsAnOutputIsReadAsItIsStored) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {5, 7}, DType::F32);
  const ValueId turned = b.op(OpKind::Transpose, {x}, {.dims = {0, 1}});
  const ValueId product = b.op(OpKind::Mm, {x, turned});
  b.program.outputs = {turned, product};
  expect_as_interpreted(b.program, "partition=block");
}

}  // namespace
}  // namespace whet
