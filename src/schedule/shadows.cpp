#include "schedule/shadows.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace whet {
namespace {

using Index = std::size_t;

/// Which values products read as operands, themselves or through views.
std::vector<char> product_operands(const Program& program) {
  std::vector<char> feeds(program.values.size(), 0);
  for (auto op = program.ops.rbegin(); op != program.ops.rend(); ++op) {
    const bool is_addmm = op->kind == OpKind::Addmm;
    for (Index i = 0; i < op->inputs.size(); ++i) {
      const bool is_operand = op->kind == OpKind::Mm || (is_addmm && i > 0);
      if (is_operand || (is_view(op->kind) && feeds[Index(op->output)] != 0)) {
        feeds[Index(op->inputs[i])] = 1;
      }
    }
  }
  return feeds;
}

bool is_output(const Program& program, ValueId v) {
  return std::find(program.outputs.begin(), program.outputs.end(), v) != program.outputs.end();
}

/// The state that changes and is stored densely whose value before the step `v` is, or -1.
int state_of(const Program& program, ValueId v) {
  for (Index s = 0; s < program.state.size(); ++s) {
    const ProgramState& state = program.state[s];
    const TensorDesc& tensor = program.value(v);
    if (state.before == v && state.after != v &&
        tensor.strides == contiguous_strides(tensor.shape)) {
      return static_cast<int>(s);
    }
  }
  return -1;
}

}  // namespace

ShadowedProgram without_shadows(const Program& program) {
  return {.program = program, .num_visible = program.state.size(), .shadowed = {}};
}

ShadowedProgram with_shadows(const Program& program) {
  ShadowedProgram result = without_shadows(program);
  const std::vector<char> feeds = product_operands(program);
  std::map<std::pair<int, DType>, ValueId> copies;
  std::map<ValueId, ValueId> renamed;
  std::vector<Op> kept;
  std::vector<Op> copying;
  for (Op op : program.ops) {
    for (ValueId& input : op.inputs) {
      const auto found = renamed.find(input);
      input = found == renamed.end() ? input : found->second;
    }
    const ValueId v = op.output;
    const DType dtype = program.value(v).dtype;
    const bool is_cast = op.kind == OpKind::Cast && dtype != DType::F32 && feeds[Index(v)] != 0 &&
                         !is_output(program, v);
    const int s = is_cast ? state_of(program, op.inputs[0]) : -1;
    if (s < 0) {
      kept.push_back(std::move(op));
      continue;
    }
    const auto [copy, is_new] = copies.emplace(std::pair{s, dtype}, v);
    if (!is_new) {
      renamed[v] = copy->second;
      continue;
    }
    const auto after = static_cast<ValueId>(result.program.values.size());
    result.program.values.push_back(program.value(v));
    result.program.values.back().name += ".after";
    op.inputs = {program.state[Index(s)].after};
    op.output = after;
    copying.push_back(std::move(op));
    result.program.state.push_back({.before = v, .after = after});
    result.shadowed.push_back(s);
  }
  kept.insert(kept.end(), copying.begin(), copying.end());
  result.program.ops = std::move(kept);
  return result;
}

}  // namespace whet
