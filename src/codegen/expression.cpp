#include "codegen/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/half.hpp"

namespace whet {
namespace {

using Index = std::size_t;

float rounded_constant(double value, DType dtype) {
  const auto single = static_cast<float>(value);
  switch (dtype) {
    case DType::BF16:
      return bf16_to_f32(f32_to_bf16(single));
    case DType::F16:
      return f16_to_f32(f32_to_f16(single));
    default:
      return single;
  }
}

std::string rounded(const std::string& value, DType dtype) {
  switch (dtype) {
    case DType::BF16:
      return "round_bf16(" + value + ")";
    case DType::F16:
      return "round_f16(" + value + ")";
    default:
      return value;
  }
}

std::string times(double factor, const std::string& value) {
  return factor == 1.0 ? value
                       : fmt::format("{} * {}", f32_literal(static_cast<float>(factor)), value);
}

std::string apply(const ExprNode& node) {
  const OpAttributes& a = node.attributes;
  const auto in = [&](Index i) { return fmt::format("v{}", node.operands.at(i)); };
  const bool unary = node.operands.size() == 1;
  const std::string other = f32_literal(static_cast<float>(a.other));
  const std::string second = unary ? other : in(node.operands.size() - 1);
  switch (node.op) {
    case OpKind::Mm:
    case OpKind::Sum:
    case OpKind::Cast:
      return in(0);
    case OpKind::Addmm:
      return unary ? times(a.alpha, in(0))
                   : fmt::format("{} + {}", times(a.beta, in(1)), times(a.alpha, in(0)));
    case OpKind::Add:
      return fmt::format("{} + {}", in(0), times(a.alpha, second));
    case OpKind::Sub:
      return fmt::format("{} - {}", in(0), times(a.alpha, second));
    case OpKind::Mul:
      return fmt::format("{} * {}", in(0), second);
    case OpKind::Div:
      return fmt::format("{} / {}", in(0), second);
    case OpKind::Neg:
      return "-" + in(0);
    case OpKind::Relu:
      return fmt::format("relu({})", in(0));
    case OpKind::ThresholdBackward:
      return fmt::format("threshold_backward({}, {}, {})", in(0), in(1), other);
    case OpKind::Pow:
      return fmt::format("power({}, {})", in(0), other);
    case OpKind::Mean:
      return fmt::format("{} / {}", in(0), f32_literal(static_cast<float>(node.num_reduced)));
    case OpKind::MseLoss:
      return unary
                 ? fmt::format("{} / {}", in(0), f32_literal(static_cast<float>(node.num_reduced)))
                 : fmt::format("({0} - {1}) * ({0} - {1})", in(0), in(1));
    case OpKind::MseLossBackward:
      return fmt::format(
          "{} * ({} - {}) * {}",
          f32_literal(static_cast<float>(2.0 / static_cast<double>(node.num_reduced))),
          in(1),
          in(2),
          in(0)
      );
    default:
      throw InternalError(fmt::format("no target computes {}", op_name(node.op)));
  }
}

/// Whether a node's value is one that `dtype` has.
bool is_rounded_to(const ExprNode& node, DType dtype) {
  return node.kind != ExprNode::Kind::Accumulator && node.dtype == dtype;
}

/// Whether an op of rounded operands gives a rounded result.
bool is_exact(const Task& task, const ExprNode& node) {
  switch (node.op) {
    case OpKind::Relu:
    case OpKind::Neg:
    case OpKind::Cast:
    case OpKind::ThresholdBackward:
      return is_rounded_to(task.nodes[Index(node.operands.at(0))], node.dtype);
    default:
      return false;
  }
}

/// Whether nothing but stores that round it uses a node.
bool is_only_stored(const Task& task, const std::vector<Buffer>& buffers, int n) {
  if (task.reduce && task.reduce->operand == n) {
    return false;
  }
  for (const ExprNode& user : task.nodes) {
    if (std::find(user.operands.begin(), user.operands.end(), n) != user.operands.end()) {
      return false;
    }
  }
  return std::all_of(task.stores.begin(), task.stores.end(), [&](const Store& store) {
    return store.node != n ||
           buffers[Index(store.access.buffer)].dtype == task.nodes[Index(n)].dtype;
  });
}

}  // namespace

std::string element_index(const Access& access, const std::vector<std::string>& indices) {
  std::vector<std::string> terms;
  if (access.offset != 0) {
    terms.push_back(fmt::format("{}", access.offset));
  }
  for (Index d = 0; d < access.strides.size(); ++d) {
    if (access.strides[d] == 1) {
      terms.push_back(indices.at(d));
    } else if (access.strides[d] != 0) {
      terms.push_back(fmt::format("{} * {}", indices.at(d), access.strides[d]));
    }
  }
  return terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + "));
}

std::string load_expression(
    const ExprNode& node,
    const std::vector<Buffer>& buffers,
    const std::vector<std::string>& indices
) {
  const Access& access = node.access;
  const std::string symbol = buffers[Index(access.buffer)].symbol;
  if (!access.guard) {
    return fmt::format("to_f32(b.{}[{}])", symbol, element_index(access, indices));
  }
  const Guard& guard = *access.guard;
  const std::string index = indices[Index(guard.dim)];
  const std::string distance =
      guard.start == 0 ? index : fmt::format("({} - {})", index, guard.start);
  std::vector<std::string> moved = indices;
  moved[Index(guard.dim)] =
      guard.step == 1 ? distance : fmt::format("({} / {})", distance, guard.step);
  std::string condition = fmt::format(
      "{} >= {} && {} < {}", index, guard.start, distance, (guard.count - 1) * guard.step + 1
  );
  if (guard.count == 0) {
    condition = "false";
  }
  if (guard.step != 1) {
    condition += fmt::format(" && {} % {} == 0", distance, guard.step);
  }
  return fmt::format(
      "{} ? to_f32(b.{}[{}]) : 0.0f", condition, symbol, element_index(access, moved)
  );
}

std::string element_type(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return "float";
    case DType::BF16:
      return "bf16";
    case DType::F16:
      return "f16";
    case DType::I64:
      return "i64";
    case DType::I32:
      return "i32";
    default:
      throw InternalError(fmt::format("no target stores {}", dtype_name(dtype)));
  }
}

void emit_nodes(
    TextWriter& text,
    const Task& task,
    const std::vector<Buffer>& buffers,
    int first,
    int last,
    const std::vector<std::string>& indices,
    const std::string& accumulator,
    const std::map<int, std::string>& loaded
) {
  for (int n = first; n < last; ++n) {
    const ExprNode& node = task.nodes[Index(n)];
    std::string value;
    switch (node.kind) {
      case ExprNode::Kind::Load:
        value = loaded.contains(n) ? loaded.at(n) : load_expression(node, buffers, indices);
        break;
      case ExprNode::Kind::Constant:
        value = f32_literal(rounded_constant(node.attributes.other, node.dtype));
        break;
      case ExprNode::Kind::Accumulator:
        value = accumulator;
        break;
      case ExprNode::Kind::Apply:
        value = apply(node);
        if (!is_exact(task, node) && !is_only_stored(task, buffers, n)) {
          value = rounded(value, node.dtype);
        }
        break;
    }
    text.line("const float v{} = {};", n, value);
  }
}

void emit_stores(
    TextWriter& text,
    const Task& task,
    const std::vector<Buffer>& buffers,
    const std::vector<std::string>& indices
) {
  for (const Store& store : task.stores) {
    const Buffer& buffer = buffers[Index(store.access.buffer)];
    text.line(
        "b.{}[{}] = from_f32<{}>(v{});",
        buffer.symbol,
        element_index(store.access, indices),
        element_type(buffer.dtype),
        store.node
    );
  }
}

std::vector<std::string> emit_indices(
    TextWriter& text,
    const std::vector<std::int64_t>& domain,
    const std::string& linear,
    const std::string& prefix,
    const std::string& type
) {
  std::vector<std::string> names;
  std::int64_t inner = num_elements(domain);
  for (Index d = 0; d < domain.size(); ++d) {
    const std::string name = fmt::format("{}{}", prefix, d);
    inner /= domain[d] == 0 ? 1 : domain[d];
    std::string value = inner == 1 ? linear : fmt::format("{} / {}", linear, inner);
    if (d > 0) {
      value = fmt::format("{} % {}", value, domain[d]);
    }
    text.line("const {} {} = {};", type, name, value);
    names.push_back(name);
  }
  return names;
}

}  // namespace whet
