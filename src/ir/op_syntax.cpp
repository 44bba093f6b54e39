#include "ir/op_syntax.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/suggestion.hpp"

namespace whet {
namespace {

/// ATen ops whose result differs from call to call; with and without "_" at the end.
constexpr std::array<std::string_view, 24> kRandomOps{
    "alpha_dropout", "bernoulli",        "cauchy",    "dropout",
    "exponential",   "feature_dropout",  "geometric", "log_normal",
    "multinomial",   "native_dropout",   "normal",    "poisson",
    "rand",          "rand_like",        "randint",   "randint_like",
    "randn",         "randn_like",       "random",    "randperm",
    "rrelu",         "rrelu_with_noise", "uniform",   "_fused_dropout",
};

bool is_random(std::string_view name) {
  return std::find(kRandomOps.begin(), kRandomOps.end(), name) != kRandomOps.end();
}

OpKind read_kind(const JsonCursor& cursor) {
  const std::string name = cursor.as_string();
  if (const std::optional<OpKind> kind = parse_op(name)) {
    return *kind;
  }
  std::string_view base = name;
  if (base.ends_with('_')) {
    base.remove_suffix(1);
  }
  if (is_random(name) || is_random(base)) {
    cursor.fail(
        "an op whose result its operands decide",
        quoted_name(name) + ", which is random (draw the numbers outside and pass them as an input)"
    );
  }
  if (base.size() < name.size() && parse_op(base)) {
    cursor.fail(
        "an op that leaves its operands alone",
        fmt::format(
            "{}, which works in place (use {} and give the result a name)",
            quoted_name(name),
            quoted_name(std::string(base))
        )
    );
  }
  cursor.fail(
      fmt::format("an op ({})", fmt::join(op_names(), ", ")),
      quoted_name(name) + suggestion(name, op_names())
  );
}

std::vector<JsonCursor> read_inputs(const JsonCursor& op) {
  const std::optional<JsonCursor> list = op.find("in");
  const std::vector<JsonCursor> inputs = list ? list->items() : std::vector<JsonCursor>();
  for (const JsonCursor& input : inputs) {
    if (!input.is_string()) {
      input.fail(R"(the name of a tensor (a constant second operand is written "other"))");
    }
  }
  return inputs;
}

/// A name, or a list of one: every op of today has one result.
JsonCursor read_output(const JsonCursor& op) {
  const JsonCursor output = op.at("out");
  if (!output.is_array()) {
    return output;
  }
  const std::vector<JsonCursor> names = output.items();
  if (names.size() != 1) {
    output.fail("one name, as this op has one result");
  }
  return names.front();
}

double number_or(const JsonCursor& op, const char* key, double otherwise) {
  const std::optional<JsonCursor> member = op.find(key);
  return member ? member->as_number() : otherwise;
}

std::vector<std::int64_t> read_dims(const JsonCursor& list) {
  constexpr auto kLimit = static_cast<std::int64_t>(kMaxRank);
  std::vector<std::int64_t> dims;
  for (const JsonCursor& entry : list.items()) {
    dims.push_back(entry.as_integer(-kLimit, kLimit - 1));
  }
  return dims;
}

std::vector<std::int64_t> read_dim(const JsonCursor& op) {
  constexpr auto kLimit = static_cast<std::int64_t>(kMaxRank);
  return {op.at("dim").as_integer(-kLimit, kLimit - 1)};
}

DType read_op_dtype(const JsonCursor& cursor) {
  const std::optional<DType> dtype = parse_dtype(cursor.as_string());
  if (!dtype || !is_compute_dtype(*dtype)) {
    cursor.fail("f32, bf16 or f16");
  }
  return *dtype;
}

/// The constant that takes the place of a second operand.
double read_other(const JsonCursor& op, std::size_t num_inputs) {
  if (num_inputs == 1) {
    return op.at("other").as_number(true);
  }
  if (const std::optional<JsonCursor> other = op.find("other")) {
    other->fail(
        R"("other" only beside one operand)", fmt::format("{} operands in \"in\"", num_inputs)
    );
  }
  return 0.0;
}

OpAttributes read_arithmetic(const JsonCursor& op, OpKind kind, std::size_t num_inputs) {
  OpAttributes attributes;
  if (kind == OpKind::Add || kind == OpKind::Sub) {
    op.allow_only({"op", "in", "out", "alpha", "other"});
    attributes.alpha = number_or(op, "alpha", 1.0);
  } else {
    op.allow_only({"op", "in", "out", "other"});
  }
  attributes.other = read_other(op, num_inputs);
  return attributes;
}

OpAttributes read_reduction(const JsonCursor& op) {
  op.allow_only({"op", "in", "out", "dim", "keepdim"});
  OpAttributes attributes;
  if (const std::optional<JsonCursor> dim = op.find("dim")) {
    attributes.dims = dim->is_array() ? read_dims(*dim) : read_dim(op);
  }
  if (const std::optional<JsonCursor> keepdim = op.find("keepdim")) {
    attributes.keepdim = keepdim->as_bool();
  }
  return attributes;
}

OpAttributes read_part(const JsonCursor& op, OpKind kind, const DimTable& dims) {
  OpAttributes attributes;
  const bool backward = kind == OpKind::SelectBackward || kind == OpKind::SliceBackward;
  const bool select = kind == OpKind::Select || kind == OpKind::SelectBackward;
  if (select && backward) {
    op.allow_only({"op", "in", "out", "dim", "index", "shape"});
  } else if (select) {
    op.allow_only({"op", "in", "out", "dim", "index"});
  } else if (backward) {
    op.allow_only({"op", "in", "out", "dim", "start", "end", "step", "shape"});
  } else {
    op.allow_only({"op", "in", "out", "dim", "start", "end", "step"});
  }
  attributes.dims = read_dim(op);
  if (backward) {
    attributes.shape = dims.shape(op.at("shape"));
  }
  if (select) {
    attributes.index = op.at("index").as_integer();
    return attributes;
  }
  const auto integer_or = [&](const char* key, std::int64_t otherwise) {
    const std::optional<JsonCursor> member = op.find(key);
    return member ? member->as_integer() : otherwise;
  };
  attributes.start = integer_or("start", 0);
  attributes.end = integer_or("end", INT64_MAX);
  attributes.step = integer_or("step", 1);
  return attributes;
}

OpAttributes read_attributes(
    const JsonCursor& op, OpKind kind, std::size_t num_inputs, const DimTable& dims
) {
  OpAttributes attributes;
  switch (kind) {
    case OpKind::Addmm:
      op.allow_only({"op", "in", "out", "alpha", "beta"});
      attributes.alpha = number_or(op, "alpha", 1.0);
      attributes.beta = number_or(op, "beta", 1.0);
      return attributes;
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
      return read_arithmetic(op, kind, num_inputs);
    case OpKind::Mm:
    case OpKind::Neg:
    case OpKind::Relu:
    case OpKind::MseLoss:
    case OpKind::MseLossBackward:
      op.allow_only({"op", "in", "out"});
      return attributes;
    case OpKind::ThresholdBackward:
      op.allow_only({"op", "in", "out", "threshold"});
      attributes.other = number_or(op, "threshold", 0.0);
      return attributes;
    case OpKind::Pow:
      op.allow_only({"op", "in", "out", "exponent"});
      attributes.other = op.at("exponent").as_number();
      return attributes;
    case OpKind::Cast:
      op.allow_only({"op", "in", "out", "dtype"});
      attributes.dtype = read_op_dtype(op.at("dtype"));
      return attributes;
    case OpKind::Full:
      op.allow_only({"op", "in", "out", "shape", "value", "dtype"});
      attributes.shape = dims.shape(op.at("shape"));
      attributes.other = op.at("value").as_number(true);
      attributes.dtype = read_op_dtype(op.at("dtype"));
      return attributes;
    case OpKind::Sum:
    case OpKind::Mean:
      return read_reduction(op);
    case OpKind::Transpose:
    case OpKind::Permute:
      op.allow_only({"op", "in", "out", "dims"});
      attributes.dims = read_dims(op.at("dims"));
      return attributes;
    case OpKind::Reshape:
    case OpKind::Expand:
      op.allow_only({"op", "in", "out", "shape"});
      attributes.shape = dims.open_shape(op.at("shape"));
      return attributes;
    case OpKind::Select:
    case OpKind::Slice:
    case OpKind::SelectBackward:
    case OpKind::SliceBackward:
      return read_part(op, kind, dims);
  }
  return attributes;
}

}  // namespace

OpSyntax parse_op_syntax(const JsonCursor& cursor, const DimTable& dims) {
  const OpKind kind = read_kind(cursor.at("op"));
  std::vector<JsonCursor> inputs = read_inputs(cursor);
  OpAttributes attributes = read_attributes(cursor, kind, inputs.size(), dims);
  return {
      .kind = kind,
      .attributes = std::move(attributes),
      .inputs = std::move(inputs),
      .output = read_output(cursor)};
}

}  // namespace whet
