#include "ir/program.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.hpp"
#include "support/interpreter.hpp"
#include "support/program_input.hpp"

namespace whet {
namespace {

using testing::input;
using Dims = std::vector<std::int64_t>;

/// The result of one op on inputs of the given shapes.
TensorDesc result_of(OpKind kind, std::vector<Dims> shapes, OpAttributes attributes = {}) {
  Program program;
  std::vector<ValueId> inputs;
  for (Dims& shape : shapes) {
    inputs.push_back(input(program, std::move(shape)));
  }
  const ValueId result = append_op(program, kind, inputs, std::move(attributes), "r");
  verify(program);
  return program.value(result);
}

Dims shape_of(OpKind kind, std::vector<Dims> shapes, OpAttributes attributes = {}) {
  return result_of(kind, std::move(shapes), std::move(attributes)).shape;
}

OpAttributes canonical_of(OpKind kind, Dims shape, OpAttributes attributes) {
  Program program;
  append_op(program, kind, {input(program, std::move(shape))}, std::move(attributes), "r");
  return program.ops.back().attributes;
}

std::string refusal(OpKind kind, std::vector<Dims> shapes, OpAttributes attributes = {}) {
  try {
    result_of(kind, std::move(shapes), std::move(attributes));
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(DTypeNames, GoThereAndBack) {
  for (const DType dtype :
       {DType::F64, DType::F32, DType::BF16, DType::F16, DType::I64, DType::I32, DType::Bool}) {
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
  }
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
}

TEST(OpNames, GoThereAndBack) {
  EXPECT_EQ(op_names().size(), static_cast<std::size_t>(OpKind::SliceBackward) + 1);
  for (const std::string_view name : op_names()) {
    EXPECT_EQ(op_name(parse_op(name).value()), name);
  }
  EXPECT_EQ(parse_op("softmax"), std::nullopt);
}

TEST(Tensor, ExtentCountsWhatTheStridesReach) {
  EXPECT_EQ(storage_extent({.shape = {3, 4}, .strides = {6, 1}}), 16);
  EXPECT_EQ(storage_extent({.shape = {3, 4}, .strides = {0, 1}}), 4);
  EXPECT_EQ(storage_extent({.shape = {0, 4}, .strides = {4, 1}}), 0);
  EXPECT_EQ(storage_extent({.shape = {}, .strides = {}}), 1);
}

TEST(Tensor, IsContiguousWhateverTheStridesOfDimensionsOfOne) {
  EXPECT_TRUE(is_contiguous({.shape = {2, 1, 3}, .strides = {3, 77, 1}}));
  EXPECT_FALSE(is_contiguous({.shape = {2, 3}, .strides = {1, 2}}));
  EXPECT_TRUE(is_contiguous({.shape = {0, 3}, .strides = {5, 5}}));
}

TEST(Tensor, LongNamesAreCutBetweenCharacters) {
  std::string name = "x";
  for (int i = 0; i < 100; ++i) {
    name += "é";
  }
  const std::string quoted = quoted_name(name);
  EXPECT_LT(quoted.size(), 90u);
  EXPECT_EQ(quoted.find("\xef\xbf\xbd"), std::string::npos) << "a character was cut in two";
  EXPECT_EQ(quoted_name("a\"b\n"), R"("a\"b\n")");
}

TEST(Inference, BroadcastsFromTheLastDimension) {
  EXPECT_EQ(shape_of(OpKind::Add, {{3, 1}, {2, 1, 4}}), (Dims{2, 3, 4}));
  EXPECT_EQ(shape_of(OpKind::Mul, {{3, 4}, {}}), (Dims{3, 4}));
  EXPECT_EQ(shape_of(OpKind::Div, {{1}, {0}}), (Dims{0}));
}

TEST(Inference, MatrixProductsHaveRowsOfTheFirstAndColumnsOfTheSecond) {
  EXPECT_EQ(shape_of(OpKind::Mm, {{2, 3}, {3, 5}}), (Dims{2, 5}));
  EXPECT_EQ(shape_of(OpKind::Mm, {{2, 0}, {0, 3}}), (Dims{2, 3}));
  EXPECT_EQ(shape_of(OpKind::Addmm, {{5}, {2, 3}, {3, 5}}), (Dims{2, 5}));
  EXPECT_EQ(shape_of(OpKind::Addmm, {{}, {2, 3}, {3, 5}}), (Dims{2, 5}));
}

TEST(Inference, ReductionsDropOrKeepDimensions) {
  EXPECT_EQ(shape_of(OpKind::Sum, {{2, 3, 4}}, {.dims = {1}}), (Dims{2, 4}));
  EXPECT_EQ(
      shape_of(OpKind::Sum, {{2, 3, 4}}, {.dims = {-1, 0}, .keepdim = true}), (Dims{1, 3, 1})
  );
  EXPECT_EQ(shape_of(OpKind::Mean, {{2, 3}}), Dims{});
  EXPECT_EQ(shape_of(OpKind::Mean, {{}}, {.dims = {0}}), Dims{});
  EXPECT_EQ(shape_of(OpKind::MseLoss, {{2, 3}, {2, 3}}), Dims{});
}

TEST(Inference, AttributesBecomeCanonical) {
  EXPECT_EQ(canonical_of(OpKind::Sum, {2, 3, 4}, {.dims = {-1, 0}}).dims, (Dims{0, 2}));
  EXPECT_EQ(canonical_of(OpKind::Sum, {2, 3, 4}, {}).dims, (Dims{0, 1, 2}));
  EXPECT_EQ(canonical_of(OpKind::Mean, {}, {.dims = {-1}, .keepdim = true}), OpAttributes{});
  EXPECT_EQ(canonical_of(OpKind::Transpose, {2, 3}, {.dims = {-1, 0}}).dims, (Dims{0, 1}));
  EXPECT_EQ(canonical_of(OpKind::Reshape, {2, 3, 4}, {.shape = {-1, 4}}).shape, (Dims{6, 4}));
  EXPECT_EQ(canonical_of(OpKind::Expand, {3, 1}, {.shape = {2, -1, 4}}).shape, (Dims{2, 3, 4}));
  EXPECT_EQ(canonical_of(OpKind::Select, {2, 3}, {.dims = {-1}, .index = -1}).index, 2);
  EXPECT_EQ(canonical_of(OpKind::Slice, {5}, {.dims = {0}, .start = -3}).start, 2);
  EXPECT_EQ(canonical_of(OpKind::Slice, {5}, {.dims = {0}}).end, 5);
  EXPECT_EQ(canonical_of(OpKind::Relu, {5}, {.alpha = 3.0, .keepdim = true}), OpAttributes{});
}

TEST(Inference, ComputedValuesAreContiguousEvenFromViews) {
  Program program;
  const ValueId a = input(program, {5, 6});
  const ValueId turned = append_op(program, OpKind::Transpose, {a}, {.dims = {0, 1}}, "t");
  const ValueId sum = append_op(program, OpKind::Add, {turned}, {.other = 1.0}, "s");
  EXPECT_EQ(program.value(turned).strides, (Dims{1, 6}));
  EXPECT_EQ(program.value(sum).strides, (Dims{5, 1}));
}

TEST(Inference, ViewsHaveTheStridesOfATen) {
  EXPECT_EQ(result_of(OpKind::Permute, {{2, 3, 4}}, {.dims = {2, 0, 1}}).strides, (Dims{1, 12, 4}));
  EXPECT_EQ(result_of(OpKind::Expand, {{3, 1}}, {.shape = {2, 3, 4}}).strides, (Dims{0, 1, 0}));
  EXPECT_EQ(result_of(OpKind::Expand, {{3, 4}}, {.shape = {1, 3, 4}}).strides, (Dims{12, 4, 1}));
  EXPECT_EQ(result_of(OpKind::Expand, {{}}, {.shape = {1, 2}}).strides, (Dims{0, 0}));
  EXPECT_EQ(
      result_of(OpKind::Select, {{2, 3, 4}}, {.dims = {1}, .index = 2}).strides, (Dims{12, 1})
  );
  EXPECT_EQ(
      result_of(OpKind::Slice, {{6, 4}}, {.dims = {0}, .start = 1, .end = 6, .step = 2}).strides,
      (Dims{8, 1})
  );
}

TEST(Inference, SlicesClampTheirBounds) {
  const auto sliced = [](std::int64_t start, std::int64_t end, std::int64_t step) {
    return shape_of(OpKind::Slice, {{5}}, {.dims = {0}, .start = start, .end = end, .step = step});
  };
  EXPECT_EQ(sliced(1, 4, 2), Dims{2});
  EXPECT_EQ(sliced(-2, 100, 1), Dims{2});
  EXPECT_EQ(sliced(4, 2, 1), Dims{0});
  EXPECT_EQ(sliced(-100, -4, 1), Dims{1});
  EXPECT_EQ(sliced(0, 5, INT64_MAX), Dims{1});
}

TEST(Reshape, IsAViewWhereTheStridesAllowIt) {
  const TensorDesc dense{.shape = {2, 3, 4}, .strides = {12, 4, 1}};
  EXPECT_EQ(reshape_strides(dense, {6, 4}), (Dims{4, 1}));
  EXPECT_EQ(reshape_strides(dense, {2, 1, 12}), (Dims{12, 12, 1}));
  const TensorDesc pitched{.shape = {2, 3, 4}, .strides = {30, 4, 1}};
  EXPECT_EQ(reshape_strides(pitched, {2, 12}), (Dims{30, 1}));
  EXPECT_EQ(reshape_strides(pitched, {6, 4}), std::nullopt);
  const TensorDesc turned{.shape = {4, 3}, .strides = {1, 4}};
  EXPECT_EQ(reshape_strides(turned, {12}), std::nullopt);
  EXPECT_EQ(reshape_strides(turned, {2, 2, 3}), (Dims{2, 1, 4}));
  EXPECT_EQ(reshape_strides({.shape = {}, .strides = {}}, {1, 1}), (Dims{1, 1}));
  EXPECT_EQ(reshape_strides({.shape = {0, 3}, .strides = {3, 1}}, {3, 0}), (Dims{1, 1}));
}

TEST(Reshape, CopiesWhereTheStridesDoNot) {
  Program program;
  const ValueId a = input(program, {3, 4});
  append_op(program, OpKind::Reshape, {a}, {.shape = {12}}, "view");
  EXPECT_FALSE(copies(program, program.ops.back()));
  const ValueId turned = append_op(program, OpKind::Transpose, {a}, {.dims = {0, 1}}, "t");
  const ValueId flat = append_op(program, OpKind::Reshape, {turned}, {.shape = {12}}, "copy");
  EXPECT_TRUE(copies(program, program.ops.back()));
  EXPECT_EQ(program.value(flat).strides, Dims{1});
}

TEST(Inference, EmptyAndZeroDimensionalTensorsAreLegal) {
  EXPECT_EQ(shape_of(OpKind::Mean, {{0, 4}}, {.dims = {0}}), Dims{4});
  EXPECT_EQ(shape_of(OpKind::Reshape, {{0, 4}}, {.shape = {2, 0}}), (Dims{2, 0}));
  EXPECT_EQ(shape_of(OpKind::Transpose, {{}}, {.dims = {0, -1}}), Dims{});
  EXPECT_EQ(shape_of(OpKind::Permute, {{}}), Dims{});
}

TEST(Inference, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(
      refusal(OpKind::Mm, {{2, 3}, {4, 5}}),
      R"(mm: expected 3 rows in the second matrix, as many as "a" [2, 3] f32 has columns, found "a" [4, 5] f32)"
  );
  EXPECT_EQ(
      refusal(OpKind::Add, {{2, 3}, {2}}),
      R"(add: expected shapes that broadcast with "a" [2, 3] f32, found "a" [2] f32)"
  );
  EXPECT_EQ(refusal(OpKind::Relu, {{2}, {2}}), "relu: expected 1 input, found 2");
  EXPECT_EQ(refusal(OpKind::Add, {}), "add: expected 1 or 2 inputs, found 0");
  EXPECT_EQ(
      refusal(OpKind::Addmm, {{4}, {2, 3}, {3, 5}}),
      R"(addmm: expected a bias that expands to [2, 5], found "a" [4] f32)"
  );
  EXPECT_EQ(
      refusal(OpKind::Mm, {{2}, {2, 3}}),
      R"(mm: expected operands with 2 dimensions, found "a" [2] f32)"
  );
  EXPECT_EQ(
      refusal(OpKind::MseLoss, {{2, 3}, {2, 1}}),
      R"(mse_loss: expected the shape of "a" [2, 3] f32 (use expand), found "a" [2, 1] f32)"
  );
  EXPECT_EQ(
      refusal(OpKind::MseLossBackward, {{1}, {3}, {3}}),
      R"(mse_loss_backward: expected a 0-d gradient, found "a" [1] f32)"
  );
}

TEST(Inference, RefusesAttributesThatDoNotFit) {
  EXPECT_EQ(
      refusal(OpKind::Sum, {{2, 3}}, {.dims = {2}}),
      "sum: expected a dimension of -2 to 1 for 2-d, found 2"
  );
  EXPECT_EQ(
      refusal(OpKind::Sum, {{2, 3}}, {.dims = {0, -2}}),
      "sum: expected each dimension once, found dim -2 twice"
  );
  EXPECT_EQ(
      refusal(OpKind::Reshape, {{2, 3}}, {.shape = {4, -1}}),
      "reshape: expected a shape with the 6 elements of [2, 3] f32, found [4, -1]"
  );
  EXPECT_EQ(
      refusal(OpKind::Reshape, {{0, 3}}, {.shape = {0, -1}}),
      "reshape: expected a shape with the 0 elements of [0, 3] f32, found [0, -1]"
  );
  EXPECT_EQ(
      refusal(OpKind::Reshape, {{6}}, {.shape = {-1, -1}}),
      "reshape: expected sizes of at least 0, or one -1, found [-1, -1]"
  );
  EXPECT_EQ(
      refusal(OpKind::Expand, {{3}}, {.shape = {3, 2}}),
      "expand: expected a shape that [3] f32 expands to, found [3, 2]"
  );
  EXPECT_EQ(
      refusal(OpKind::Select, {{2, 3}}, {.dims = {0}, .index = 2}),
      "select: expected an index within dimension 0 of [2, 3], found 2"
  );
  EXPECT_EQ(
      refusal(OpKind::Slice, {{3}}, {.dims = {0}, .step = 0}),
      "slice: expected a step of at least 1, found 0"
  );
  EXPECT_EQ(
      refusal(OpKind::Select, {{}}, {.dims = {0}}),
      "select: expected a tensor with at least 1 dimension, found a 0-d one"
  );
  EXPECT_EQ(
      refusal(OpKind::Permute, {{2, 3}}, {.dims = {0, 0}}),
      "permute: expected each dimension once, found dim 0 twice"
  );
  EXPECT_EQ(refusal(OpKind::Permute, {{2, 3}}, {.dims = {0}}), "permute: expected 2 dims, found 1");
  EXPECT_EQ(
      refusal(OpKind::Add, {{2}, {2}}, {.alpha = kNaN}), "add: expected a finite alpha, found nan"
  );
  EXPECT_EQ(
      refusal(OpKind::SliceBackward, {{3}}, {.dims = {0}, .shape = {5}, .end = 2}),
      "slice_backward: expected a gradient of shape [2], found [3] f32"
  );
}

TEST(Inference, RefusesSizesBeyondTheLimits) {
  EXPECT_EQ(
      refusal(OpKind::Expand, {{1}}, {.shape = {1 << 21, 1 << 21}}),
      "expand: expected at most 1099511627776 elements, found [2097152, 2097152]"
  );
  EXPECT_EQ(
      refusal(OpKind::Full, {}, {.shape = {INT64_MAX}, .dtype = DType::F32}),
      "full: expected sizes of 0 to 2147483648, found [9223372036854775807]"
  );
  EXPECT_EQ(
      refusal(OpKind::Full, {}, {.shape = Dims(10'000, 1), .dtype = DType::F32}),
      "full: expected at most 8 dimensions, found 10000 dimensions"
  );
  EXPECT_EQ(
      refusal(OpKind::Reshape, {{2}}, {.shape = {INT64_MAX, INT64_MAX, 0}}),
      "reshape: expected sizes of 0 to 2147483648, found "
      "[9223372036854775807, 9223372036854775807, 0]"
  );
}

TEST(Inference, RefusesMixedAndIntegerDtypes) {
  Program program;
  const ValueId low = input(program, {2}, DType::BF16, "low");
  const ValueId high = input(program, {2}, DType::F32, "high");
  const ValueId index = input(program, {2}, DType::I64, "index");
  const auto message = [&](OpKind kind, std::vector<ValueId> inputs, OpAttributes attributes = {}) {
    try {
      append_op(program, kind, std::move(inputs), std::move(attributes), "r");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(
      message(OpKind::Add, {low, high}),
      R"(add: expected operands of one dtype ("low" is bf16; add a cast), found "high" [2] f32)"
  );
  EXPECT_EQ(
      message(OpKind::Neg, {index}),
      R"(neg: expected operands of f32, bf16 or f16, found "index" [2] i64)"
  );
  EXPECT_EQ(
      message(OpKind::Cast, {high}, {.dtype = DType::I32}),
      "cast: expected a cast to f32, bf16 or f16 (what NaN and infinity become in integers differs "
      "by target), found i32"
  );
  EXPECT_EQ(message(OpKind::Cast, {index}, {.dtype = DType::F32}), "accepted");
}

TEST(Text, HasALineForEachPartAndQuotesOddNames) {
  Program program;
  const ValueId a = input(program, {2, 3}, DType::BF16, "x*/");
  program.inputs[0].stable = true;
  const ValueId t = append_op(program, OpKind::Transpose, {a}, {.dims = {0, 1}}, "t");
  const ValueId s = append_op(program, OpKind::Slice, {t}, {.dims = {0}, .start = 1}, "part");
  const ValueId m = append_op(program, OpKind::Mul, {s}, {.other = 0.1}, "scaled");
  program.outputs.push_back(append_op(program, OpKind::Sum, {m}, {.dims = {1}}, "sum"));
  EXPECT_EQ(
      to_text(program),
      "input \"x*/\" [2, 3] bf16 stable align 16\n"
      "t [3, 2] bf16 strides [1, 3] = transpose(\"x*/\", dims=[0, 1])\n"
      "part [2, 2] bf16 strides [1, 3] = slice(t, dims=[0], 1:3:1)\n"
      "scaled [2, 2] bf16 = mul(part, 0.1)\n"
      "sum [2] bf16 = sum(scaled, dims=[1])\n"
      "output sum\n"
  );
}

}  // namespace
}  // namespace whet
