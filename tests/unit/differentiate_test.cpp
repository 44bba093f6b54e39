// Gradients are held against central differences in double. Inputs keep a distance from the kinks
// of relu and from zero divisors.
#include "ir/differentiate.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.hpp"
#include "base/philox.hpp"
#include "support/interpreter.hpp"

namespace whet {
namespace {

using Dims = std::vector<std::int64_t>;
using testing::Interpreter;
using testing::Rounding;
using testing::Values;

constexpr std::uint64_t kSeed = 20240731;

/// A Program whose leaves are all differentiated.
struct Case {
  Program program;
  std::vector<ValueId> leaves;
  std::uint64_t num_constants = 0;

  ValueId value(Dims shape, const std::string& name, DType dtype = DType::F32) {
    TensorDesc tensor{.name = name, .shape = std::move(shape), .dtype = dtype};
    tensor.strides = contiguous_strides(tensor.shape);
    program.values.push_back(std::move(tensor));
    const auto id = static_cast<ValueId>(program.values.size() - 1);
    program.inputs.push_back({.value = id});
    return id;
  }
  ValueId leaf(Dims shape, DType dtype = DType::F32) {
    leaves.push_back(value(std::move(shape), "leaf" + std::to_string(leaves.size()), dtype));
    return leaves.back();
  }
  ValueId op(OpKind kind, std::vector<ValueId> inputs, OpAttributes attributes = {}) {
    const std::string name = "v" + std::to_string(program.values.size());
    return append_op(program, kind, std::move(inputs), std::move(attributes), name);
  }
  /// 0-d, with another weight for every element, so that no gradient is uniform by luck.
  ValueId weighted_sum(ValueId y) {
    const ValueId weights = value(
        program.value(y).shape, "weights" + std::to_string(num_constants++), program.value(y).dtype
    );
    return op(OpKind::Sum, {op(OpKind::Mul, {y, weights})});
  }
};

/// Of magnitude 0.5 to 1.5, either sign.
Values drawn(const Program& program, ValueId id) {
  const Philox random(kSeed, static_cast<std::uint64_t>(id));
  Values values(static_cast<std::size_t>(num_elements(program.value(id).shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (random.uniform(2 * i) < 0.5 ? -1.0 : 1.0) * (0.5 + random.uniform(2 * i + 1));
  }
  return values;
}

double loss_at(const Program& program, ValueId loss, const std::vector<Values>& inputs) {
  Interpreter interpreter(program, Rounding::None);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    interpreter.set(program.inputs[i].value, inputs[i]);
  }
  interpreter.run();
  return interpreter.get(loss).at(0);
}

/// Compares all gradients of `build`'s loss with central differences.
void expect_gradients(
    const std::function<ValueId(Case&)>& build, const std::function<void(Values&)>& adjust = {}
) {
  Case c;
  const ValueId loss = build(c);
  const Program forward = c.program;
  const std::vector<ValueId> gradients = differentiate(c.program, loss, c.leaves);
  verify(c.program);

  std::vector<Values> inputs;
  for (const ProgramInput& input : forward.inputs) {
    inputs.push_back(drawn(forward, input.value));
    if (adjust) {
      adjust(inputs.back());
    }
  }
  Interpreter step(c.program, Rounding::None);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    step.set(forward.inputs[i].value, inputs[i]);
  }
  step.run();
  for (std::size_t leaf = 0; leaf < c.leaves.size(); ++leaf) {
    const TensorDesc& gradient = c.program.value(gradients[leaf]);
    const TensorDesc& target = forward.value(c.leaves[leaf]);
    EXPECT_EQ(gradient.shape, target.shape);
    EXPECT_EQ(gradient.dtype, target.dtype);
    const auto input = static_cast<std::size_t>(c.leaves[leaf]);
    std::size_t position = 0;  // of the leaf among the inputs
    while (forward.inputs[position].value != static_cast<ValueId>(input)) {
      ++position;
    }
    for (std::size_t i = 0; i < inputs[position].size(); ++i) {
      constexpr double kStep = 1e-5;  // cube root of double's precision, the best for this formula
      std::vector<Values> moved = inputs;
      moved[position][i] += kStep;
      const double above = loss_at(forward, loss, moved);
      moved[position][i] -= 2 * kStep;
      const double below = loss_at(forward, loss, moved);
      const double expected = (above - below) / (2 * kStep);
      EXPECT_NEAR(step.get(gradients[leaf]).at(i), expected, 1e-7 * (1.0 + std::fabs(expected)))
          << "leaf " << leaf << " element " << i << " seed " << kSeed << "\n"
          << to_text(c.program);
    }
  }
}

/// One op on leaves of the given shapes.
void expect_op_gradients(OpKind kind, std::vector<Dims> shapes, OpAttributes attributes = {}) {
  expect_gradients([&](Case& c) {
    std::vector<ValueId> inputs;
    for (const Dims& shape : shapes) {
      inputs.push_back(c.leaf(shape));
    }
    return c.weighted_sum(c.op(kind, inputs, attributes));
  });
}

TEST(Differentiate, MatrixProducts) {
  expect_op_gradients(OpKind::Mm, {{2, 3}, {3, 4}});
  expect_op_gradients(OpKind::Addmm, {{4}, {2, 3}, {3, 4}}, {.alpha = 0.5, .beta = -2.0});
  expect_op_gradients(OpKind::Addmm, {{2, 1}, {2, 3}, {3, 4}}, {.beta = 0.0});
  expect_op_gradients(OpKind::Addmm, {{}, {2, 3}, {3, 4}});
}

TEST(Differentiate, ArithmeticWithBroadcasting) {
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::Div}) {
    const OpAttributes scaled =
        kind == OpKind::Add || kind == OpKind::Sub ? OpAttributes{.alpha = 2.5} : OpAttributes{};
    expect_op_gradients(kind, {{2, 3}, {2, 3}}, scaled);
    expect_op_gradients(kind, {{2, 3}, {3}});
    expect_op_gradients(kind, {{3, 1}, {2, 1, 4}}, scaled);
    expect_op_gradients(kind, {{2, 3}, {}}, scaled);
    expect_op_gradients(kind, {{}, {2, 3}});
    expect_op_gradients(kind, {{}, {}});
  }
}

TEST(Differentiate, ArithmeticWithAConstant) {
  for (const OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::Div}) {
    expect_op_gradients(kind, {{2, 3}}, {.other = -1.5});
  }
}

TEST(Differentiate, OnesWithOneOperand) {
  expect_op_gradients(OpKind::Neg, {{2, 3}});
  expect_op_gradients(OpKind::Relu, {{4, 3}});
  for (const double exponent : {2.0, 3.0, 1.0, 0.0, -1.0}) {
    expect_op_gradients(OpKind::Pow, {{2, 3}}, {.other = exponent});
  }
  expect_gradients(
      [](Case& c) { return c.weighted_sum(c.op(OpKind::Pow, {c.leaf({5})}, {.other = 0.5})); },
      [](Values& values) {
        for (double& value : values) {
          value = std::fabs(value);
        }
      }
  );
}

TEST(Differentiate, ThresholdBackwardInItsGradientOnly) {
  expect_op_gradients(OpKind::ThresholdBackward, {{3, 4}, {3, 4}}, {.other = 0.3});
}

TEST(Differentiate, Casts) {
  for (const DType dtype : {DType::BF16, DType::F16, DType::F32}) {
    expect_op_gradients(OpKind::Cast, {{2, 3}}, {.dtype = dtype});
  }
}

TEST(Differentiate, Reductions) {
  for (const OpKind kind : {OpKind::Sum, OpKind::Mean}) {
    for (const bool keepdim : {false, true}) {
      expect_op_gradients(kind, {{2, 3}}, {.keepdim = keepdim});
      expect_op_gradients(kind, {{2, 3, 4}}, {.dims = {1}, .keepdim = keepdim});
      expect_op_gradients(kind, {{2, 3, 4}}, {.dims = {0, -1}, .keepdim = keepdim});
    }
    expect_op_gradients(kind, {{}}, {.dims = {0}});
  }
  expect_op_gradients(OpKind::MseLoss, {{2, 3}, {2, 3}});
}

TEST(Differentiate, Views) {
  expect_op_gradients(OpKind::Transpose, {{2, 3, 4}}, {.dims = {0, 2}});
  expect_op_gradients(OpKind::Permute, {{2, 3, 4}}, {.dims = {2, 0, 1}});
  expect_op_gradients(OpKind::Reshape, {{2, 6}}, {.shape = {3, -1}});
  expect_op_gradients(OpKind::Expand, {{3, 1}}, {.shape = {2, 3, 4}});
  expect_op_gradients(OpKind::Expand, {{}}, {.shape = {2, 2}});
  expect_op_gradients(OpKind::Select, {{2, 3, 4}}, {.dims = {1}, .index = -1});
  expect_op_gradients(OpKind::Slice, {{2, 7}}, {.dims = {1}, .start = 1, .end = 7, .step = 2});
  expect_op_gradients(OpKind::Slice, {{4}}, {.dims = {0}, .start = 3, .end = 3});
}

TEST(Differentiate, GradientsOfParts) {
  expect_op_gradients(
      OpKind::SelectBackward, {{2, 4}}, {.dims = {1}, .shape = {2, 3, 4}, .index = 1}
  );
  expect_op_gradients(
      OpKind::SliceBackward,
      {{2, 2}},
      {.dims = {1}, .shape = {2, 5}, .start = 1, .end = 5, .step = 2}
  );
}

TEST(Differentiate, AReshapeThatCopies) {
  expect_gradients([](Case& c) {
    const ValueId turned = c.op(OpKind::Transpose, {c.leaf({2, 3})}, {.dims = {0, 1}});
    return c.weighted_sum(c.op(OpKind::Reshape, {turned}, {.shape = {6}}));
  });
}

TEST(Differentiate, AValueThatIsReadSeveralTimes) {
  expect_gradients([](Case& c) {
    const ValueId h = c.op(OpKind::Relu, {c.leaf({3, 3})});
    const ValueId squared = c.op(OpKind::Mul, {h, h});
    const ValueId product = c.op(OpKind::Mm, {h, squared});
    return c.weighted_sum(c.op(OpKind::Add, {c.op(OpKind::Sub, {product, h}), squared}));
  });
}

TEST(Differentiate, TiedWeightsGetTheSumOfBothUses) {
  expect_gradients([](Case& c) {
    const ValueId x = c.value({2, 4}, "x");
    const ValueId w = c.leaf({4, 4});
    const ValueId y = c.op(OpKind::Mm, {x, w});
    const ValueId z = c.op(OpKind::Mm, {y, c.op(OpKind::Transpose, {w}, {.dims = {0, 1}})});
    return c.op(OpKind::Mean, {c.op(OpKind::Pow, {z}, {.other = 2.0})});
  });
}

TEST(Differentiate, ATwoLayerNetwork) {
  expect_gradients([](Case& c) {
    const ValueId x = c.value({3, 4}, "x");
    const ValueId target = c.value({3, 2}, "target");
    const ValueId h = c.op(
        OpKind::Relu, {c.op(OpKind::Add, {c.op(OpKind::Mm, {x, c.leaf({4, 5})}), c.leaf({5})})}
    );
    const ValueId y = c.op(OpKind::Addmm, {c.leaf({2}), h, c.leaf({5, 2})});
    return c.op(OpKind::MseLoss, {y, target});
  });
}

TEST(Differentiate, ATargetWithoutInfluenceGetsZeros) {
  Case c;
  const ValueId used = c.leaf({2});
  const ValueId unused = c.leaf({3}, DType::BF16);
  const ValueId loss = c.op(OpKind::Sum, {used});
  const std::vector<ValueId> gradients = differentiate(c.program, loss, {used, unused});
  const Op& zeros = c.program.ops.back();
  EXPECT_EQ(zeros.output, gradients[1]);
  EXPECT_EQ(zeros.kind, OpKind::Full);
  EXPECT_EQ(zeros.attributes.other, 0.0);
  EXPECT_EQ(describe(c.program.value(gradients[1])), "[3] bf16");
  EXPECT_EQ(c.program.value(gradients[1]).name, "grad:leaf1");
}

TEST(Differentiate, TheLossItselfHasAGradientOfOne) {
  Case c;
  const ValueId loss = c.leaf({});
  const std::vector<ValueId> gradients = differentiate(c.program, loss, {loss});
  EXPECT_EQ(c.program.ops.back().output, gradients[0]);
  EXPECT_EQ(c.program.ops.back().attributes.other, 1.0);
}

/// The backward ops of `build`, one a line, operands by name.
std::string emitted(const std::function<ValueId(Case&)>& build) {
  Case c;
  const ValueId loss = build(c);
  const std::size_t num_forward = c.program.ops.size();
  differentiate(c.program, loss, c.leaves);
  std::string text;
  for (std::size_t i = num_forward; i < c.program.ops.size(); ++i) {
    const Op& op = c.program.ops[i];
    text += std::string(op_name(op.kind));
    for (const ValueId input : op.inputs) {
      text += " " + c.program.value(input).name;
    }
    text += "\n";
  }
  return text;
}

// The orders below were recorded from LibTorch 2.11 with a callback on every op.

TEST(Differentiate, FanOutIsAddedInTheOrderOfArrival) {
  const std::string text = emitted([](Case& c) {
    const ValueId b = c.value({2}, "b");
    const ValueId h = c.op(OpKind::Relu, {c.leaf({2})});  // v2
    const ValueId product = c.op(OpKind::Mul, {h, b});    // v3
    const ValueId negated = c.op(OpKind::Neg, {h});       // v4
    const ValueId inner = c.op(OpKind::Add, {product, negated});
    const ValueId outer = c.op(OpKind::Add, {inner, h});  // v6: h gets this one first
    return c.op(OpKind::Sum, {outer});
  });
  EXPECT_EQ(
      text,
      "full\n"
      "expand grad:v7\n"  // grad:v6, of the outer sum and of all that it adds
      "neg grad:v6\n"     // the latest node first
      "add grad:v6 g2\n"
      "mul grad:v6 b\n"
      "add g3 g4\n"
      "threshold_backward grad:v2 v2\n"
  );
}

TEST(Differentiate, DivisionRoundsAsAutogradDoes) {
  const std::string text = emitted([](Case& c) {
    return c.op(OpKind::Div, {c.leaf({}), c.leaf({})});
  });
  EXPECT_EQ(
      text,
      "full\n"
      "div grad:v2 leaf1\n"
      "neg grad:v2\n"
      "div leaf0 leaf1\n"
      "div g3 leaf1\n"
      "mul g2 g4\n"
  );
}

TEST(Differentiate, SubtractionNegatesBeforeItScales) {
  const std::string text = emitted([](Case& c) {
    return c.op(OpKind::Sub, {c.leaf({}), c.leaf({})}, {.alpha = 2.5});
  });
  EXPECT_EQ(text, "full\nneg grad:v2\nmul g1\n");
}

TEST(Differentiate, ABroadcastIsUndoneByASumAndAView) {
  const std::string text = emitted([](Case& c) {
    const ValueId wide = c.value({2, 3, 4}, "wide");
    return c.op(OpKind::Sum, {c.op(OpKind::Mul, {c.leaf({3, 1}), wide})});
  });
  EXPECT_EQ(text, "full\nexpand grad:v3\nmul grad:v2 wide\nsum g2\nreshape g3\n");
}

TEST(Differentiate, OnlyWhatTheTargetsNeedIsComputed) {
  const std::string text = emitted([](Case& c) {
    const ValueId x = c.value({2, 3}, "x");
    return c.op(OpKind::Sum, {c.op(OpKind::Mm, {x, c.leaf({3, 2})})});
  });
  EXPECT_EQ(text, "full\nexpand grad:v3\ntranspose x\nmm g2 grad:v2\n");
}

TEST(Differentiate, ReluReadsItsResult) {
  const std::string text = emitted([](Case& c) { return c.op(OpKind::Relu, {c.leaf({})}); });
  EXPECT_EQ(text, "full\nthreshold_backward grad:v1 v1\n");
}

TEST(Differentiate, AMeanIsStretchedThenDivided) {
  const std::string text = emitted([](Case& c) {
    return c.op(OpKind::Sum, {c.op(OpKind::Mean, {c.leaf({2, 3})}, {.dims = {0}})});
  });
  EXPECT_EQ(text, "full\nexpand grad:v2\nreshape grad:v1\nexpand g2\ndiv g3\n");
}

TEST(Differentiate, TheSecondOperandOfTheSquaredErrorSwapsWithTheFirst) {
  const std::string text = emitted([](Case& c) {
    return c.op(OpKind::MseLoss, {c.leaf({2}), c.leaf({2})});
  });
  EXPECT_EQ(
      text,
      "full\n"
      "mse_loss_backward grad:v2 leaf0 leaf1\n"
      "mse_loss_backward grad:v2 leaf1 leaf0\n"
  );
}

TEST(Differentiate, TheSquaredErrorOfFourElements) {
  Case c;
  const ValueId a = c.leaf({4});
  const ValueId zeros = c.value({4}, "zeros");
  const ValueId loss = c.op(OpKind::MseLoss, {a, zeros});
  const ValueId gradient = differentiate(c.program, loss, {a}).front();
  Interpreter interpreter(c.program);
  interpreter.set(a, {1, 2, 3, 4});
  interpreter.set(zeros, {0, 0, 0, 0});
  interpreter.run();
  EXPECT_EQ(interpreter.get(gradient), (Values{0.5, 1, 1.5, 2}));
}

TEST(Differentiate, RefusesAnOpWithoutADerivative) {
  Case c;
  const ValueId grad = c.leaf({});
  const ValueId y = c.op(OpKind::MseLossBackward, {grad, c.leaf({2}), c.leaf({2})});
  const ValueId loss = c.op(OpKind::Sum, {y});
  try {
    differentiate(c.program, loss, c.leaves);
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "mse_loss_backward: expected an op with a derivative in a forward part, found \"v3\" = "
        "mse_loss_backward (a step that is already differentiated goes into \"body\" and "
        "\"updates\")"
    );
  }
}

}  // namespace
}  // namespace whet
