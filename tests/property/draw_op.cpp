// One function for each family of ops: operands from what there is, new leaves where nothing fits.
#include "property/draw_op.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace whet::testing {
namespace {

using Dims = std::vector<std::int64_t>;
using Index = std::size_t;
using Sign = DrawnProgram::Sign;

bool chosen(const std::optional<ValueId>& v) { return v.has_value(); }

class OpDrawer {
 public:
  explicit OpDrawer(DrawnProgram& drawn) : drawn_(drawn) {}

  bool draw() {
    switch (drawn_.random.below(18)) {
      case 0:
      case 1:
        return draw_mm();
      case 2:
        return draw_addmm();
      case 3:
      case 4:
        return draw_add();
      case 5:
        return draw_mul();
      case 6:
        return draw_div();
      case 7:
        return chosen(drawn_.attempt(OpKind::Neg, {any()}));
      case 8:
        return draw_relu();
      case 9:
        return draw_threshold_backward();
      case 10:
        return draw_pow();
      case 11:
        return draw_cast();
      case 12:
        return draw_sum();
      case 13:
        return draw_mse_loss();
      case 14:
        return draw_turn();
      case 15:
        return draw_reshape();
      case 16:
        return draw_expand();
      default:
        return draw_part();
    }
  }

 private:
  ValueId any() {
    return *drawn_.find([](ValueId) { return true; });
  }
  ValueId with_dims() {
    const auto v = drawn_.find([&](ValueId candidate) { return drawn_.rank(candidate) > 0; });
    return v ? *v : drawn_.leaf(drawn_.draw_shape(2));
  }
  ValueId matrix() {
    const auto v = drawn_.find([&](ValueId candidate) { return drawn_.rank(candidate) == 2; });
    return v && drawn_.random.chance(0.9) ? *v : drawn_.leaf(drawn_.draw_shape(2));
  }

  /// A right operand [k, n] in the dtype of `left`, from the pool, new, or a new one turned.
  ValueId right_operand(ValueId left) {
    const std::int64_t k = drawn_.shape(left)[1];
    const auto known = drawn_.find([&](ValueId v) {
      return drawn_.rank(v) == 2 && drawn_.shape(v)[0] == k &&
             drawn_.dtype_of(v) == drawn_.dtype_of(left);
    });
    if (known && drawn_.random.chance(0.4)) {
      return *known;
    }
    const std::int64_t most = DrawnProgram::kMaxElementsOfValue / std::max<std::int64_t>(k, 1);
    const std::int64_t n = std::min(drawn_.draw_size(), most);
    if (drawn_.random.chance(0.3)) {
      const ValueId turned = drawn_.leaf({n, k}, Sign::Any, drawn_.dtype_of(left));
      return *drawn_.attempt(OpKind::Transpose, {turned}, {.dims = {0, 1}});
    }
    return drawn_.leaf({k, n}, Sign::Any, drawn_.dtype_of(left));
  }

  bool draw_mm() {
    const ValueId left = matrix();
    return chosen(drawn_.attempt(OpKind::Mm, {left, right_operand(left)}));
  }

  double draw_factor() {
    static const std::vector<double> factors{1.0, 1.0, 0.5, -1.25, 0.3, 2.0};
    return drawn_.random.one_of(factors);
  }

  bool draw_addmm() {
    const ValueId left = matrix();
    const ValueId right = right_operand(left);
    const std::int64_t m = drawn_.shape(left)[0];
    const std::int64_t n = drawn_.shape(right)[1];
    const std::vector<Dims> shapes{{n}, {m, n}, {1, n}, {m, 1}, {}, {1}};
    const ValueId bias =
        drawn_.leaf(drawn_.random.one_of(shapes), Sign::Any, drawn_.dtype_of(left));
    OpAttributes attributes{.alpha = draw_factor(), .beta = draw_factor()};
    if (drawn_.random.chance(0.15)) {
      attributes.beta = 0.0;
    }
    return chosen(drawn_.attempt(OpKind::Addmm, {bias, left, right}, attributes));
  }

  /// A shape that broadcasts with `dims`.
  Dims broadcast_partner(Dims dims) {
    for (std::int64_t& size : dims) {
      if (drawn_.random.chance(0.3)) {
        size = 1;
      }
    }
    if (dims.size() < 4 && drawn_.random.chance(0.1)) {
      dims.insert(dims.begin(), drawn_.draw_size());
      return dims;
    }
    while (!dims.empty() && drawn_.random.chance(0.25)) {
      dims.erase(dims.begin());
    }
    return dims;
  }

  static bool broadcasts(const Dims& a, const Dims& b) {
    for (Index d = 1; d <= std::min(a.size(), b.size()); ++d) {
      const std::int64_t x = a[a.size() - d];
      const std::int64_t y = b[b.size() - d];
      if (x != y && x != 1 && y != 1) {
        return false;
      }
    }
    return true;
  }

  ValueId partner(ValueId a, Sign sign = Sign::Any) {
    const auto known = drawn_.find([&](ValueId v) {
      return drawn_.dtype_of(v) == drawn_.dtype_of(a) &&
             broadcasts(drawn_.shape(v), drawn_.shape(a));
    });
    if (known && sign == Sign::Any && drawn_.random.chance(0.6)) {
      return *known;
    }
    return drawn_.leaf(broadcast_partner(drawn_.shape(a)), sign, drawn_.dtype_of(a));
  }

  std::vector<ValueId> in_either_order(ValueId a, ValueId b) {
    return drawn_.random.chance(0.5) ? std::vector{a, b} : std::vector{b, a};
  }

  bool draw_add() {
    const OpKind kind = drawn_.random.chance(0.5) ? OpKind::Add : OpKind::Sub;
    const ValueId a = any();
    OpAttributes attributes{.alpha = draw_factor()};
    if (drawn_.random.chance(0.2)) {
      attributes.other = drawn_.random.between(-1.0, 1.0);
      return chosen(drawn_.attempt(kind, {a}, attributes));
    }
    return chosen(drawn_.attempt(kind, in_either_order(a, partner(a)), attributes));
  }

  bool draw_mul() {
    const ValueId a = any();
    if (drawn_.random.chance(0.2)) {
      return chosen(drawn_.attempt(OpKind::Mul, {a}, {.other = drawn_.random.between(-1.5, 1.5)}));
    }
    return chosen(drawn_.attempt(OpKind::Mul, in_either_order(a, partner(a))));
  }

  bool draw_div() {
    const ValueId a = any();
    if (drawn_.random.chance(0.2)) {
      return chosen(drawn_.attempt(OpKind::Div, {a}, {.other = drawn_.random.between(0.5, 1.5)}));
    }
    return chosen(drawn_.attempt(OpKind::Div, {a, partner(a)}));
  }

  /// A value with the elements of `v` moved away from zero by a new input.
  std::optional<ValueId> pushed(ValueId v) {
    const at::Tensor value = drawn_.reference(v).to(at::kDouble);
    TensorDesc tensor{.shape = drawn_.shape(v), .dtype = drawn_.dtype_of(v)};
    tensor.name = "push" + std::to_string(drawn_.program().values.size());
    tensor.strides = contiguous_strides(tensor.shape);
    const at::Tensor push = at::where(value < 0.0, -1.0, 1.0).to(at::kDouble).contiguous();
    const ValueId away = drawn_.add_leaf(std::move(tensor), push, false);
    return drawn_.attempt(OpKind::Add, {v, away});
  }

  bool draw_relu() {
    const ValueId a = any();
    if (chosen(drawn_.attempt(OpKind::Relu, {a}))) {
      return true;
    }
    const std::optional<ValueId> away = pushed(a);
    return away && chosen(drawn_.attempt(OpKind::Relu, {*away}));
  }

  bool draw_threshold_backward() {
    const ValueId self = any();
    const ValueId grad = partner(self);
    const double threshold = drawn_.random.chance(0.5) ? 0.0 : drawn_.random.between(-0.4, 0.4);
    return chosen(drawn_.attempt(OpKind::ThresholdBackward, {grad, self}, {.other = threshold}));
  }

  bool draw_pow() {
    static const std::vector<double> exponents{
        2.0, 3.0, 0.5, -1.0, -0.5, -2.0, 1.0, 0.0, 1.5, 2.5, 4.0, -1.5};
    const double exponent = drawn_.random.one_of(exponents);
    const bool whole = std::trunc(exponent) == exponent;
    const ValueId base =
        whole || drawn_.random.chance(0.3)
            ? any()
            : drawn_.leaf(drawn_.draw_shape(drawn_.random.below(3)), Sign::Positive);
    return chosen(drawn_.attempt(OpKind::Pow, {base}, {.other = exponent}));
  }

  bool draw_cast() {
    static const std::vector<DType> dtypes{DType::F32, DType::BF16, DType::F16};
    return chosen(drawn_.attempt(OpKind::Cast, {any()}, {.dtype = drawn_.random.one_of(dtypes)}));
  }

  bool draw_sum() {
    const OpKind kind = drawn_.random.chance(0.5) ? OpKind::Sum : OpKind::Mean;
    const ValueId a = any();
    OpAttributes attributes{.keepdim = drawn_.random.chance(0.5)};
    for (std::int64_t d = 0; d < drawn_.rank(a); ++d) {
      if (drawn_.random.chance(0.5)) {
        attributes.dims.push_back(d);
      }
    }
    return chosen(drawn_.attempt(kind, {a}, attributes));
  }

  bool draw_mse_loss() {
    const ValueId a = any();
    const auto known = drawn_.find([&](ValueId v) {
      return v != a && drawn_.shape(v) == drawn_.shape(a) &&
             drawn_.dtype_of(v) == drawn_.dtype_of(a);
    });
    const ValueId b = known ? *known : drawn_.leaf(drawn_.shape(a), Sign::Any, drawn_.dtype_of(a));
    return chosen(drawn_.attempt(OpKind::MseLoss, in_either_order(a, b)));
  }

  bool draw_turn() {
    const ValueId a = with_dims();
    if (drawn_.random.chance(0.5)) {
      return chosen(drawn_.attempt(
          OpKind::Transpose,
          {a},
          {.dims = {drawn_.random.below(drawn_.rank(a)), drawn_.random.below(drawn_.rank(a))}}
      ));
    }
    OpAttributes attributes;
    for (std::int64_t d = 0; d < drawn_.rank(a); ++d) {
      attributes.dims.insert(attributes.dims.begin() + drawn_.random.below(d + 1), d);
    }
    return chosen(drawn_.attempt(OpKind::Permute, {a}, attributes));
  }

  bool draw_reshape() {
    const ValueId a = any();
    Dims dims{num_elements(drawn_.shape(a))};
    // Splits one dimension after another.
    for (std::int64_t i = drawn_.random.below(3); i > 0; --i) {
      const auto d =
          static_cast<Index>(drawn_.random.below(static_cast<std::int64_t>(dims.size())));
      static const std::vector<std::int64_t> divisors{1, 2, 3, 4, 5, 8};
      const std::int64_t divisor = drawn_.random.one_of(divisors);
      if (dims[d] % divisor == 0) {
        dims[d] /= divisor;
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(d), divisor);
      }
    }
    return chosen(drawn_.attempt(OpKind::Reshape, {a}, {.shape = dims}));
  }

  bool draw_expand() {
    const ValueId a = any();
    Dims dims = drawn_.shape(a);
    for (std::int64_t& size : dims) {
      if (size == 1 && drawn_.random.chance(0.7)) {
        size = drawn_.draw_size();
      }
    }
    if (dims.size() < 4 && drawn_.random.chance(0.5)) {
      dims.insert(dims.begin(), 1 + drawn_.random.below(5));
    }
    return chosen(drawn_.attempt(OpKind::Expand, {a}, {.shape = dims}));
  }

  bool draw_part() {
    const ValueId a = with_dims();
    const std::int64_t d = drawn_.random.below(drawn_.rank(a));
    const std::int64_t size = drawn_.shape(a)[Index(d)];
    switch (drawn_.random.below(4)) {
      case 0:
        return size > 0 &&
               chosen(drawn_.attempt(
                   OpKind::Select, {a}, {.dims = {d}, .index = drawn_.random.below(size)}
               ));
      case 1: {
        // The gradient of a select, as a forward op: `a` becomes one of several.
        Dims whole = drawn_.shape(a);
        const std::int64_t count = 1 + drawn_.random.below(4);
        whole.insert(whole.begin() + d, count);
        return chosen(drawn_.attempt(
            OpKind::SelectBackward,
            {a},
            {.dims = {d}, .shape = whole, .index = drawn_.random.below(count)}
        ));
      }
      case 2: {
        Dims whole = drawn_.shape(a);
        OpAttributes attributes{.dims = {d}, .start = drawn_.random.below(3)};
        attributes.step = 1 + drawn_.random.below(3);
        attributes.end = attributes.start + size * attributes.step;
        whole[Index(d)] = attributes.end + drawn_.random.below(3);
        attributes.shape = whole;
        return chosen(drawn_.attempt(OpKind::SliceBackward, {a}, attributes));
      }
      default: {
        OpAttributes attributes{
            .dims = {d}, .start = drawn_.random.below(std::max<std::int64_t>(size, 1))};
        attributes.end = attributes.start + drawn_.random.below(size + 1);
        attributes.step = 1 + drawn_.random.below(3);
        if (attributes.end == attributes.start && !drawn_.may_be_empty()) {
          ++attributes.end;
        }
        return chosen(drawn_.attempt(OpKind::Slice, {a}, attributes));
      }
    }
  }

  DrawnProgram& drawn_;
};

}  // namespace

bool draw_op(DrawnProgram& drawn) { return OpDrawer(drawn).draw(); }

}  // namespace whet::testing
