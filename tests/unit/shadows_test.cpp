#include "schedule/shadows.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/programs.hpp"

namespace whet {
namespace {

TEST(Shadows, StandInForTheCastsOfWeights) {
  const Program program = testing::mlp(16, 64, 128, 16, DType::BF16);
  const ShadowedProgram shadowed = with_shadows(program);
  ASSERT_EQ(shadowed.shadowed.size(), 2U) << "of the weights, and not of the biases";
  EXPECT_EQ(shadowed.num_visible, program.state.size());
  EXPECT_EQ(shadowed.program.state.size(), program.state.size() + 2);
  for (std::size_t i = 0; i < shadowed.shadowed.size(); ++i) {
    const ProgramState& hidden = shadowed.program.state[shadowed.num_visible + i];
    const ProgramState& seen = program.state[static_cast<std::size_t>(shadowed.shadowed[i])];
    EXPECT_EQ(program.value(seen.before).shape, program.value(hidden.before).shape);
    EXPECT_EQ(program.value(hidden.before).dtype, DType::BF16);
    const auto copying =
        std::find_if(shadowed.program.ops.begin(), shadowed.program.ops.end(), [&](const Op& op) {
          return op.output == hidden.after;
        });
    ASSERT_NE(copying, shadowed.program.ops.end());
    EXPECT_EQ(copying->kind, OpKind::Cast);
    EXPECT_EQ(copying->inputs, std::vector<ValueId>{seen.after});
  }
  verify(shadowed.program);
}

TEST(Shadows, OfATiedWeightIsOne) {
  EXPECT_EQ(with_shadows(testing::tied(12, 24, 40, DType::BF16)).shadowed.size(), 1U);
}

TEST(Shadows, AreNotForF32) {
  const Program program = testing::mlp(16, 64, 128, 16, DType::F32);
  const ShadowedProgram shadowed = with_shadows(program);
  EXPECT_TRUE(shadowed.shadowed.empty());
  EXPECT_EQ(shadowed.program, program);
}

}  // namespace
}  // namespace whet
