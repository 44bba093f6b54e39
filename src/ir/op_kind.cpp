#include <array>

#include "base/error.hpp"
#include "ir/program.hpp"

namespace whet {
namespace {

enum class Family { Matrix, Pointwise, Creation, Reduction, View, Scatter };

struct Row {
  OpKind kind;
  std::string_view name;
  Family family;
};

constexpr std::array kRows{
    Row{OpKind::Mm, "mm", Family::Matrix},
    Row{OpKind::Addmm, "addmm", Family::Matrix},
    Row{OpKind::Add, "add", Family::Pointwise},
    Row{OpKind::Sub, "sub", Family::Pointwise},
    Row{OpKind::Mul, "mul", Family::Pointwise},
    Row{OpKind::Div, "div", Family::Pointwise},
    Row{OpKind::Neg, "neg", Family::Pointwise},
    Row{OpKind::Relu, "relu", Family::Pointwise},
    Row{OpKind::ThresholdBackward, "threshold_backward", Family::Pointwise},
    Row{OpKind::Pow, "pow", Family::Pointwise},
    Row{OpKind::Cast, "cast", Family::Pointwise},
    Row{OpKind::MseLossBackward, "mse_loss_backward", Family::Pointwise},
    Row{OpKind::Full, "full", Family::Creation},
    Row{OpKind::Sum, "sum", Family::Reduction},
    Row{OpKind::Mean, "mean", Family::Reduction},
    Row{OpKind::MseLoss, "mse_loss", Family::Reduction},
    Row{OpKind::Transpose, "transpose", Family::View},
    Row{OpKind::Permute, "permute", Family::View},
    Row{OpKind::Reshape, "reshape", Family::View},
    Row{OpKind::Expand, "expand", Family::View},
    Row{OpKind::Select, "select", Family::View},
    Row{OpKind::Slice, "slice", Family::View},
    Row{OpKind::SelectBackward, "select_backward", Family::Scatter},
    Row{OpKind::SliceBackward, "slice_backward", Family::Scatter},
};

const Row& row(OpKind kind) {
  for (const Row& candidate : kRows) {
    if (candidate.kind == kind) {
      return candidate;
    }
  }
  WHET_CHECK(false, "op {} is not in the table", static_cast<int>(kind));
}

}  // namespace

std::string_view op_name(OpKind kind) { return row(kind).name; }

std::optional<OpKind> parse_op(std::string_view name) {
  for (const Row& candidate : kRows) {
    if (candidate.name == name) {
      return candidate.kind;
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> op_names() {
  std::vector<std::string_view> names;
  for (const Row& candidate : kRows) {
    names.push_back(candidate.name);
  }
  return names;
}

bool is_view(OpKind kind) { return row(kind).family == Family::View; }
bool is_pointwise(OpKind kind) { return row(kind).family == Family::Pointwise; }
bool is_reduction(OpKind kind) { return row(kind).family == Family::Reduction; }

}  // namespace whet
