#include <array>

#include "ir/program.hpp"

namespace whet {
namespace {

struct OpRow {
  OpKind kind;
  std::string_view name;
};

// In the order of OpKind.
constexpr std::array kOps{
    OpRow{OpKind::Mm, "mm"},
    OpRow{OpKind::Addmm, "addmm"},
    OpRow{OpKind::Add, "add"},
    OpRow{OpKind::Sub, "sub"},
    OpRow{OpKind::Mul, "mul"},
    OpRow{OpKind::Div, "div"},
    OpRow{OpKind::Neg, "neg"},
    OpRow{OpKind::Relu, "relu"},
    OpRow{OpKind::ThresholdBackward, "threshold_backward"},
    OpRow{OpKind::Pow, "pow"},
    OpRow{OpKind::Cast, "cast"},
    OpRow{OpKind::MseLossBackward, "mse_loss_backward"},
    OpRow{OpKind::Full, "full"},
    OpRow{OpKind::Sum, "sum"},
    OpRow{OpKind::Mean, "mean"},
    OpRow{OpKind::MseLoss, "mse_loss"},
    OpRow{OpKind::Transpose, "transpose"},
    OpRow{OpKind::Permute, "permute"},
    OpRow{OpKind::Reshape, "reshape"},
    OpRow{OpKind::Expand, "expand"},
    OpRow{OpKind::Select, "select"},
    OpRow{OpKind::Slice, "slice"},
    OpRow{OpKind::SelectBackward, "select_backward"},
    OpRow{OpKind::SliceBackward, "slice_backward"},
};

}  // namespace

std::string_view op_name(OpKind kind) { return kOps[static_cast<std::size_t>(kind)].name; }

std::optional<OpKind> parse_op(std::string_view name) {
  for (const OpRow& row : kOps) {
    if (row.name == name) {
      return row.kind;
    }
  }
  return std::nullopt;
}

bool is_view(OpKind kind) { return kind >= OpKind::Transpose && kind <= OpKind::Slice; }

bool is_pointwise(OpKind kind) { return kind >= OpKind::Add && kind <= OpKind::MseLossBackward; }

bool is_reduction(OpKind kind) { return kind >= OpKind::Sum && kind <= OpKind::MseLoss; }

}  // namespace whet
