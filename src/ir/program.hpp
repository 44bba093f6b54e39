#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whet {

/// Element types. F64 occurs only in the reference; integers index, Bool masks.
enum class DType { F64, F32, BF16, F16, I64, I32, Bool };

/// "f32", "bf16" … the spelling of workload files.
std::string_view dtype_name(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);
std::int64_t dtype_bytes(DType dtype);
/// F32, BF16 or F16: what a kernel computes in.
bool is_compute_dtype(DType dtype);
/// A compute dtype or F64.
bool is_floating(DType dtype);

/// Limits that every value of a Program keeps, so that products of sizes and strides fit 64 bits.
inline constexpr std::size_t kMaxRank = 8;
inline constexpr std::int64_t kMaxDim = std::int64_t{1} << 31;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

/// A value without storage: strides are in elements; a computed value is contiguous row-major.
struct TensorDesc {
  std::string name{};  ///< the user's name, or one given by differentiate; never emitted
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> strides{};
  DType dtype = DType::F32;

  bool operator==(const TensorDesc&) const = default;
};

/// Product of the dimensions; 1 for a 0-d tensor.
std::int64_t num_elements(const std::vector<std::int64_t>& shape);
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape);
/// Elements from the first to one past the last that the strides reach; 0 for an empty tensor.
std::int64_t storage_extent(const TensorDesc& tensor);
bool is_contiguous(const TensorDesc& tensor);
/// Strides of a view of `tensor` with `shape` (as many elements), or nothing where only a copy has
/// that shape. Source: ATen, TensorUtils.cpp, computeStride.
std::optional<std::vector<std::int64_t>> reshape_strides(
    const TensorDesc& tensor, const std::vector<std::int64_t>& shape
);
/// "[16, 64] bf16".
std::string describe(const TensorDesc& tensor);
/// A user's name for a message: in double quotes, escaped, cut when very long.
std::string quoted_name(const std::string& name);

/// What an op computes: names and meanings are ATen's. docs/formats/workload.md has the table.
enum class OpKind {
  // matrix products
  Mm,     ///< (a [M,K], b [K,N]) -> [M,N]
  Addmm,  ///< (bias, a, b) -> beta * bias + alpha * (a b)
  // pointwise, with broadcasting; one input means the attribute `other` is the second operand
  Add,  ///< a + alpha * b
  Sub,  ///< a - alpha * b
  Mul,
  Div,
  Neg,
  Relu,
  ThresholdBackward,  ///< (grad, self) -> self <= threshold ? 0 : grad; threshold is `other`
  Pow,                ///< (a) -> a ^ other
  Cast,               ///< (a) -> a in `dtype`
  MseLossBackward,    ///< (grad 0-d, a, b) -> 2 (a - b) grad / num_elements
  // creation
  Full,  ///< () -> `shape` of `dtype` filled with `other`
  // reductions; empty `dims` means all; accumulated in f32 or better
  Sum,
  Mean,
  MseLoss,  ///< (a, b) -> 0-d mean of (a - b)^2
  // views: no data moves
  Transpose,  ///< (a), dims = {d0, d1}
  Permute,    ///< (a), dims
  Reshape,    ///< (a), shape; copies where strides do not allow a view, as ATen does
  Expand,     ///< (a), shape
  Select,     ///< (a), dims = {d}, index
  Slice,      ///< (a), dims = {d}, start, end, step
  // gradients of the last two
  SelectBackward,  ///< (grad), shape, dims = {d}, index
  SliceBackward,   ///< (grad), shape, dims = {d}, start, end, step
};

/// "mm", "threshold_backward" … the spelling of workload files.
std::string_view op_name(OpKind kind);
std::optional<OpKind> parse_op(std::string_view name);
/// All spellings, in OpKind's order.
std::vector<std::string_view> op_names();
/// Transpose to Slice. A Reshape may still have to copy: see `copies`.
bool is_view(OpKind kind);
bool is_pointwise(OpKind kind);
bool is_reduction(OpKind kind);

/// Only those that OpKind's comment names for a kind have a meaning. In a Program they are
/// canonical: the rest keep their defaults; dims are non-negative, those of a reduction complete
/// and ascending; no -1 is left in shapes; indices and bounds are non-negative and within the
/// dimension.
struct OpAttributes {
  double alpha = 1.0;
  double beta = 1.0;
  double other = 0.0;
  std::vector<std::int64_t> dims{};
  bool keepdim = false;
  std::vector<std::int64_t> shape{};
  std::int64_t index = 0;
  std::int64_t start = 0;
  std::int64_t end = INT64_MAX;
  std::int64_t step = 1;
  std::optional<DType> dtype{};

  bool operator==(const OpAttributes&) const = default;
};

/// Index into Program::values.
using ValueId = std::int32_t;

struct Op {
  OpKind kind = OpKind::Full;
  std::vector<ValueId> inputs;
  ValueId output = -1;
  OpAttributes attributes;

  bool operator==(const Op&) const = default;
};

/// A tensor that a launch reads and does not change.
struct ProgramInput {
  ValueId value = -1;
  std::int64_t alignment_bytes = 16;
  bool stable = false;  ///< nothing before the launch in stream order still writes it

  bool operator==(const ProgramInput&) const = default;
};

/// A tensor that a step reads as `before` and leaves holding `after` (same shape and dtype).
struct ProgramState {
  ValueId before = -1;
  ValueId after = -1;

  bool operator==(const ProgramState&) const = default;
};

/// What to compute, without storage: ops in topological order.
struct Program {
  std::vector<TensorDesc> values;
  std::vector<Op> ops;
  std::vector<ProgramInput> inputs;
  std::vector<ValueId> scalars;  ///< 0-d, f32 or i64, device-resident, change from step to step
  std::vector<ProgramState> state;
  std::vector<ValueId> outputs;
  std::optional<ValueId> loss;

  bool operator==(const Program&) const = default;

  const TensorDesc& value(ValueId id) const { return values.at(static_cast<std::size_t>(id)); }
};

/// Appends an op, inferring the result's shape and dtype by ATen's rules (no promotion: operands of
/// one op share a dtype) and making the attributes canonical. Returns the result. Throws UserError
/// "OP: expected X, found Y" saying which operand or attribute does not fit.
ValueId append_op(
    Program& program,
    OpKind kind,
    std::vector<ValueId> inputs,
    OpAttributes attributes,
    std::string name
);

/// States the IR's invariants: operands defined before use, shapes and dtypes as inference gives
/// them, state pairs match, no value written twice. Throws InternalError.
void verify(const Program& program);

/// Whether this is a Reshape whose input's strides allow no view of the new shape.
bool copies(const Program& program, const Op& op);

/// One line an input, scalar, state tensor, op and output: "h1 [16, 128] bf16 = relu(z1)".
std::string to_text(const Program& program);

}  // namespace whet
