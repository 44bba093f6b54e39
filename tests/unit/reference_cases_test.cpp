// The reference's arithmetics against known answers; each test names the public reports it comes
// from.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "harness/libtorch_arithmetic.hpp"
#include "harness/libtorch_walk.hpp"
#include "ir/workload.hpp"

namespace whet {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;
using Shape = std::vector<std::int64_t>;

/// A few ops on given values, walked in one arithmetic.
class Ops {
 public:
  ValueId given(DType dtype, const Shape& shape, const Values& values) {
    TensorDesc tensor{
        .name = "", .shape = shape, .strides = contiguous_strides(shape), .dtype = dtype};
    tensor.name = "v" + std::to_string(program_.values.size());
    program_.values.push_back(tensor);
    const auto id = static_cast<ValueId>(program_.values.size() - 1);
    leaves_.push_back({id, from_doubles(dtype, shape, values)});
    return id;
  }
  ValueId filled(DType dtype, const Shape& shape, double value) {
    return given(dtype, shape, Values(static_cast<std::size_t>(num_elements(shape)), value));
  }
  ValueId op(OpKind kind, std::vector<ValueId> inputs, OpAttributes attributes = {}) {
    const std::string name = "v" + std::to_string(program_.values.size());
    return append_op(program_, kind, std::move(inputs), std::move(attributes), name);
  }
  ValueId cast(ValueId value, DType dtype) { return op(OpKind::Cast, {value}, {.dtype = dtype}); }

  Values result(ValueId id, Arithmetic arithmetic) const {
    const ArithmeticGuard guard(arithmetic, 1);
    std::vector<at::Tensor> values(program_.values.size());
    for (const auto& [leaf, tensor] : leaves_) {
      values[static_cast<std::size_t>(leaf)] = to_libtorch(tensor);
    }
    walk(program_, values, WalkDType::Declared);
    return to_doubles(to_host(values[static_cast<std::size_t>(id)], program_.value(id).dtype));
  }

 private:
  Program program_;
  std::vector<std::pair<ValueId, HostTensor>> leaves_;
};

bool same(const Values& a, const Values& b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y));
  });
}

std::string text(const Values& values) { return testing::PrintToString(values); }

constexpr Arithmetic kAll[] = {
    Arithmetic::Native, Arithmetic::Reference, Arithmetic::Reversed, Arithmetic::Split};

/// Every arithmetic but LibTorch's own, where that is known to be wrong.
constexpr Arithmetic kOurs[] = {Arithmetic::Reference, Arithmetic::Reversed, Arithmetic::Split};

template <typename Arithmetics>
void expect_in(const Arithmetics& arithmetics, const Ops& ops, ValueId id, const Values& expected) {
  for (const Arithmetic arithmetic : arithmetics) {
    const Values got = ops.result(id, arithmetic);
    EXPECT_TRUE(same(got, expected)) << "arithmetic " << static_cast<int>(arithmetic)
                                     << ": expected " << text(expected) << ", got " << text(got);
  }
}

void expect_all(const Ops& ops, ValueId id, const Values& expected) {
  expect_in(kAll, ops, id, expected);
}

// Case 8, tracel-ai/burn#4770.
TEST(Reference, MeanOfF16DoesNotOverflowInTheSum) {
  Ops ops;
  const ValueId mean = ops.op(OpKind::Mean, {ops.filled(DType::F16, {4096}, 32.0)});
  expect_in(kOurs, ops, mean, {32.0});
}

TEST(Reference, SumOfF16RoundsOnceAtTheEnd) {
  Ops ops;
  Values cancelling(8, 32000.0);
  std::fill(cancelling.begin() + 4, cancelling.end(), -32000.0);
  expect_all(ops, ops.op(OpKind::Sum, {ops.given(DType::F16, {8}, cancelling)}), {0.0});
  expect_all(ops, ops.op(OpKind::Sum, {ops.filled(DType::F16, {4096}, 32.0)}), {kInf});
}

// Case 9, pytorch/executorch#20089, pytorch/pytorch#68048.
TEST(Reference, Bf16SumsDoNotStickAt256) {
  Ops ops;
  const ValueId rows = ops.filled(DType::BF16, {1600, 2}, 1.0);
  expect_all(ops, ops.op(OpKind::Sum, {rows}, {.dims = {0}}), {1600.0, 1600.0});
  const ValueId product = ops.op(
      OpKind::Mm, {ops.filled(DType::BF16, {1, 4096}, 1.0), ops.filled(DType::BF16, {4096, 1}, 1.0)}
  );
  expect_all(ops, product, {4096.0});
}

// Case 11, pytorch/pytorch#136181, #183761.
TEST(Reference, RoundsAfterEveryOpAsEagerDoes) {
  Ops ops;
  const ValueId quotient = ops.op(
      OpKind::Div, {ops.given(DType::BF16, {1}, {448.0}), ops.given(DType::BF16, {1}, {4.28125})}
  );
  expect_all(ops, quotient, {104.5});
  const ValueId sum = ops.op(OpKind::Add, {ops.given(DType::BF16, {1}, {256.0})}, {.other = 1.0});
  expect_all(ops, ops.op(OpKind::Sub, {sum}, {.other = 256.0}), {0.0});
  const ValueId fine = ops.given(DType::F32, {1}, {1.01953125});
  expect_all(ops, ops.cast(ops.cast(fine, DType::BF16), DType::F32), {1.015625});
}

/// One order of sums lets through what another blocks; zeros that no rounding made stay.
TEST(Reference, OrdersDecideAReluNearZeroBothWays) {
  Ops ops;
  const Values inputs{1.0, -1.0, 1e-6, -1e-6, 1e-5, -1e-5, 0.0};
  const ValueId relu = ops.op(OpKind::Relu, {ops.given(DType::F32, {7}, inputs)});
  const Values up = ops.result(relu, Arithmetic::Reversed);
  EXPECT_GT(up[2], 0.0);
  EXPECT_EQ(up[3], up[2]);
  EXPECT_LT(up[2], 2e-6);
  const Values down = ops.result(relu, Arithmetic::Split);
  EXPECT_EQ(down[2], 0.0);
  EXPECT_EQ(down[3], 0.0);
  for (const Arithmetic arithmetic : kAll) {
    const Values got = ops.result(relu, arithmetic);
    for (const std::size_t i : {0, 1, 4, 5, 6}) {
      EXPECT_EQ(got[i], static_cast<float>(std::max(inputs[i], 0.0))) << i;
    }
  }
  expect_all(ops, ops.op(OpKind::Relu, {ops.given(DType::F32, {2}, {kInf, -1e-30})}), {kInf, 0.0});
}

// Case 15, apache/tvm#19579, pytorch/torchdynamo#594.
TEST(Reference, ReluKeepsNaN) {
  Ops ops;
  expect_all(
      ops, ops.op(OpKind::Relu, {ops.given(DType::F32, {3}, {kNaN, -1.0, 2.0})}), {kNaN, 0.0, 2.0}
  );
  const ValueId grad = ops.op(
      OpKind::ThresholdBackward,
      {ops.filled(DType::F32, {5}, 1.0), ops.given(DType::F32, {5}, {0.0, -0.0, kNaN, -1.0, 1.0})}
  );
  expect_all(ops, grad, {0.0, 0.0, 1.0, 0.0, 1.0});
}

// Case 19, pytorch/pytorch#98149.
TEST(Reference, PowKeepsSignAndZeroRules) {
  Ops ops;
  const auto pow = [&](const Values& base, double exponent) {
    const ValueId id = ops.given(DType::F32, {static_cast<std::int64_t>(base.size())}, base);
    return ops.op(OpKind::Pow, {id}, {.other = exponent});
  };
  expect_all(ops, pow({-2.0}, 3.0), {-8.0});
  expect_all(ops, pow({-8.0}, 1.0 / 3.0), {kNaN});
  expect_all(ops, pow({0.0, kNaN}, 0.0), {1.0, 1.0});
}

// Case 21, halide/Halide#8906: a double reaches bf16 by way of f32, as in LibTorch.
TEST(Reference, RoundsToLowPrecisionAsLibTorchDoes) {
  Ops ops;
  const auto full = [&](DType dtype, double value) {
    return ops.op(OpKind::Full, {}, {.other = value, .shape = {1}, .dtype = dtype});
  };
  expect_all(ops, full(DType::BF16, 1.003906251), {1.0});
  expect_all(ops, ops.cast(full(DType::F32, 0.26914088), DType::BF16), {0.26953125});
  expect_all(ops, ops.cast(full(DType::F32, 16842753.0), DType::BF16), {16777216.0});
  expect_all(ops, ops.cast(full(DType::F32, 3.4e38), DType::BF16), {kInf});
  expect_all(ops, ops.cast(full(DType::F32, 65519.0), DType::F16), {65504.0});
  expect_all(ops, ops.cast(full(DType::F32, 65520.0), DType::F16), {kInf});
}

// Case 22, triton-lang/triton#1800: TF32 would give 1024.
TEST(Reference, ProductsOfF32AreNotTf32) {
  Ops ops;
  at::globalContext().setAllowTF32CuBLAS(true);
  use_exact_settings(1);
  const ValueId product = ops.op(
      OpKind::Mm,
      {ops.filled(DType::F32, {1, 1024}, 1.0 + std::exp2(-12)),
       ops.filled(DType::F32, {1024, 1}, 1.0)}
  );
  expect_all(ops, product, {1024.25});
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

// Case 23, pytorch/pytorch#70348.
TEST(Reference, MeanOverNothingIsNaN) {
  Ops ops;
  const ValueId nothing = ops.given(DType::F32, {0}, {});
  expect_all(ops, ops.op(OpKind::MseLoss, {nothing, nothing}), {kNaN});
  const ValueId mask = ops.filled(DType::F32, {3}, 0.0);
  const ValueId masked = ops.op(OpKind::Mul, {ops.filled(DType::F32, {3}, 2.0), mask});
  const ValueId mean =
      ops.op(OpKind::Div, {ops.op(OpKind::Sum, {masked}), ops.op(OpKind::Sum, {mask})});
  expect_all(ops, mean, {kNaN});
}

// Case 29, pytorch/pytorch#197108.
TEST(Reference, EmptyTensorsHaveATensAnswers) {
  Ops ops;
  const ValueId none = ops.given(DType::F32, {0}, {});
  expect_all(ops, ops.op(OpKind::Mean, {none}), {kNaN});
  expect_all(ops, ops.op(OpKind::Sum, {none}), {0.0});
  const ValueId no_columns = ops.given(DType::F32, {4, 0}, {});
  expect_all(ops, ops.op(OpKind::Mean, {no_columns}, {.dims = {1}}), Values(4, kNaN));
  const ValueId no_rows = ops.given(DType::F32, {0, 4}, {});
  expect_all(ops, ops.op(OpKind::Sum, {no_rows}, {.dims = {0}}), Values(4, 0.0));
}

// Case 30, microsoft/onnxruntime#21483.
TEST(Reference, ProductOverNothingIsZero) {
  Ops ops;
  const ValueId a = ops.given(DType::F32, {2, 0}, {});
  const ValueId b = ops.given(DType::F32, {0, 3}, {});
  const ValueId ones = ops.filled(DType::F32, {3}, 1.0);
  expect_all(ops, ops.op(OpKind::Mm, {a, b}), Values(6, 0.0));
  expect_all(ops, ops.op(OpKind::Addmm, {ones, a, b}), Values(6, 1.0));
  expect_all(ops, ops.op(OpKind::Addmm, {ones, a, b}, {.beta = 2.0}), Values(6, 2.0));
}

// Case 31, pytorch/pytorch#196596.
TEST(Reference, FactorsOfZeroIgnoreNaN) {
  Ops ops;
  const Values eye{1.0, 0.0, 0.0, 1.0};
  const ValueId identity = ops.given(DType::F32, {2, 2}, eye);
  const ValueId poison = ops.filled(DType::F32, {2, 2}, kNaN);
  const ValueId bias = ops.filled(DType::F32, {2}, kNaN);
  const ValueId ones = ops.filled(DType::F32, {2}, 1.0);
  expect_all(ops, ops.op(OpKind::Addmm, {bias, identity, identity}, {.beta = 0.0}), eye);
  expect_all(ops, ops.op(OpKind::Addmm, {ones, poison, identity}, {.alpha = 0.0}), Values(4, 1.0));
}

// Case 37, pytorch/pytorch#102546, #83357.
TEST(Reference, ZeroDimsAndEmptyDimLists) {
  Ops ops;
  expect_all(ops, ops.op(OpKind::Mean, {ops.given(DType::F32, {}, {3.0})}, {.dims = {0}}), {3.0});
  expect_all(ops, ops.op(OpKind::Sum, {ops.filled(DType::F32, {2, 3}, 1.0)}), {6.0});
  const ValueId grad = ops.op(
      OpKind::MseLossBackward,
      {ops.given(DType::F32, {}, {1.0}),
       ops.given(DType::F32, {4}, {1.0, 2.0, 3.0, 4.0}),
       ops.filled(DType::F32, {4}, 0.0)}
  );
  expect_all(ops, grad, {0.5, 1.0, 1.5, 2.0});
}

/// A workload with one state tensor p, whose forward part computes "loss".
Workload forward_workload(
    const std::string& dtype,
    const std::string& shape,
    const std::string& fill,
    const std::string& forward
) {
  return parse_workload(
      R"({"schema": "whet.workload/1", "name": "t", "inputs": [], "scalars": [],
          "state": [{"name": "p", "shape": )" +
          shape + R"(, "dtype": ")" + dtype + R"(", "fill": {"kind": ")" + fill +
          R"("}}], "forward": )" + forward + R"(, "loss": "loss", "outputs": ["grad:p", "loss"]})",
      "test"
  );
}

/// The gradient of p by LibTorch's autograd, with p as given.
Values gradient(const Workload& workload, const Values& p, Arithmetic arithmetic) {
  const ArithmeticGuard guard(arithmetic, 1);
  const TensorDesc& tensor = workload.step.value(workload.step.state[0].before);
  const at::Tensor state = to_libtorch(from_doubles(tensor.dtype, tensor.shape, p));
  const StepResults results =
      run_step(workload, {.inputs = {}, .scalars = {}, .state = {state}}, WalkDType::Declared);
  return to_doubles(to_host(results.outputs[0], tensor.dtype));
}

TEST(ReferenceGradient, OfABf16BiasCountsEveryRow) {
  const Workload workload = forward_workload(
      "bf16",
      "[1]",
      "zeros",
      R"([{"op": "expand", "in": ["p"], "shape": [1600, 1], "out": "e"},
          {"op": "cast", "in": ["e"], "dtype": "f32", "out": "f"},
          {"op": "sum", "in": ["f"], "out": "loss"}])"
  );
  for (const Arithmetic arithmetic : kAll) {
    EXPECT_EQ(gradient(workload, {0.0}, arithmetic), Values{1600.0});
  }
}

TEST(ReferenceGradient, OfReluAndPowAreAutograds) {
  const std::string sum = R"(, {"op": "sum", "in": ["y"], "out": "loss"}])";
  const Workload relu =
      forward_workload("f32", "[5]", "ones", R"([{"op": "relu", "in": ["p"], "out": "y"})" + sum);
  const Workload cube = forward_workload(
      "f32", "[1]", "ones", R"([{"op": "pow", "in": ["p"], "exponent": 3, "out": "y"})" + sum
  );
  for (const Arithmetic arithmetic : kAll) {
    // NaN > 0 is false, yet the gradient passes: relu's own output NaN is not below the threshold.
    EXPECT_EQ(
        gradient(relu, {0.0, -0.0, kNaN, -1.0, 1.0}, arithmetic), (Values{0.0, 0.0, 1.0, 0.0, 1.0})
    );
    EXPECT_EQ(gradient(cube, {-2.0}, arithmetic), Values{12.0});
  }
}

TEST(ReferenceGradient, IsRoundedAfterEachContribution) {
  // Three uses of p with gradients 1, 0.0029 and 0.002, added in this order. Each small one alone
  // is less than half of bf16's step at 1, which is 0.0078; their exact sum would be rounded up.
  const Workload workload = forward_workload(
      "bf16",
      "[1]",
      "ones",
      R"([{"op": "mul", "in": ["p"], "other": 0.001953125, "out": "a"},
          {"op": "mul", "in": ["p"], "other": 0.0029296875, "out": "b"},
          {"op": "mul", "in": ["p"], "other": 1, "out": "c"},
          {"op": "cast", "in": ["a"], "dtype": "f32", "out": "fa"},
          {"op": "cast", "in": ["b"], "dtype": "f32", "out": "fb"},
          {"op": "cast", "in": ["c"], "dtype": "f32", "out": "fc"},
          {"op": "add", "in": ["fa", "fb"], "out": "s"},
          {"op": "add", "in": ["s", "fc"], "out": "s2"},
          {"op": "sum", "in": ["s2"], "out": "loss"}])"
  );
  for (const Arithmetic arithmetic : kAll) {
    EXPECT_EQ(gradient(workload, {1.0}, arithmetic), Values{1.0});
  }
}

}  // namespace
}  // namespace whet
