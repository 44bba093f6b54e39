#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "property/error_bound.hpp"
#include "property/random.hpp"
#include "property/random_program.hpp"

namespace whet::testing {

/// A random program while it is drawn: it knows the numbers that its values have so far, and adds
/// no op that meets a kink with them. Value 0 is the scalar "lr", no operand.
class DrawnProgram {
 public:
  DrawnProgram(std::uint64_t seed, std::uint64_t index, Rejections& rejections);

  Random random;

  Program& program() { return result_.forward; }
  const std::vector<std::int64_t>& shape(ValueId v) const { return result_.forward.value(v).shape; }
  DType dtype_of(ValueId v) const { return result_.forward.value(v).dtype; }
  std::int64_t rank(ValueId v) const { return static_cast<std::int64_t>(shape(v).size()); }
  /// What LibTorch makes of a value.
  const at::Tensor& reference(ValueId v) const { return at_.values[static_cast<std::size_t>(v)]; }
  /// Whether sizes of zero are drawn.
  bool may_be_empty() const { return may_be_empty_; }

  std::int64_t draw_size();
  std::vector<std::int64_t> draw_shape(std::int64_t rank);

  enum class Sign { Any, Positive };
  /// A new input or state, strided or not, with numbers away from zero; by default of the
  /// program's main dtype.
  ValueId leaf(
      std::vector<std::int64_t> dims,
      Sign sign = Sign::Any,
      std::optional<DType> dtype = std::nullopt
  );
  /// A new leaf that holds `values` (f64, dense).
  ValueId add_leaf(TensorDesc tensor, const at::Tensor& values, bool is_state);

  /// Appends the op unless its operands or its result rule that out, which counts as a rejection.
  std::optional<ValueId> attempt(
      OpKind kind, std::vector<ValueId> inputs, const OpAttributes& attributes = {}
  );

  /// A value that `fits`; late ones more often, so that programs are deep.
  template <class Fits>
  std::optional<ValueId> find(Fits fits) {
    std::vector<ValueId> found;
    for (ValueId v = 1; v < static_cast<ValueId>(program().values.size()); ++v) {
      if (fits(v)) {
        found.push_back(v);
      }
    }
    if (found.empty()) {
      return std::nullopt;
    }
    const auto count = static_cast<std::int64_t>(found.size());
    const std::int64_t place = std::max(random.below(count), random.below(count));
    return found[static_cast<std::size_t>(place)];
  }

  RandomProgram take() { return std::move(result_); }

  /// Programs are small: what differs between them is the mix of ops, not their sizes.
  static constexpr std::int64_t kMaxElementsOfValue = 3000;

 private:
  ValueId add_value(TensorDesc tensor);
  std::vector<std::int64_t> draw_strides(const std::vector<std::int64_t>& dims);
  std::string reason_to_reject(const Op& op, ValueId v);

  Rejections& rejections_;
  RandomProgram result_;
  BoundedValues at_;
  DType dtype_ = DType::F32;
  bool may_be_empty_ = false;
};

}  // namespace whet::testing
