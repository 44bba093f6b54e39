#include "ir/canonical.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <map>
#include <utility>

namespace whet {
namespace {

std::size_t index(ValueId value) { return static_cast<std::size_t>(value); }

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Copies a Program value by value.
class Copy {
 public:
  explicit Copy(const Program& from)
      : from_(from), new_id_(from.values.size(), -1), op_of_(from.values.size(), nullptr) {
    for (const Op& op : from.ops) {
      op_of_[index(op.output)] = &op;
    }
  }

  Program run() {
    interface();
    if (from_.loss) {
      to_.loss = visit(*from_.loss);
    }
    for (const ValueId output : from_.outputs) {
      to_.outputs.push_back(visit(output));
    }
    for (std::size_t i = 0; i < from_.state.size(); ++i) {
      to_.state[i].after = visit(from_.state[i].after);
    }
    return std::move(to_);
  }

 private:
  ValueId copy_value(ValueId value) {
    to_.values.push_back(from_.value(value));
    return new_id_[index(value)] = static_cast<ValueId>(to_.values.size() - 1);
  }

  void interface() {
    to_.inputs = from_.inputs;
    for (ProgramInput& input : to_.inputs) {
      input.value = copy_value(input.value);
    }
    for (const ValueId scalar : from_.scalars) {
      to_.scalars.push_back(copy_value(scalar));
    }
    for (const ProgramState& state : from_.state) {
      to_.state.push_back({.before = copy_value(state.before)});
    }
  }

  /// Copies the ops that `value` needs, operands first. Without recursion: chains of ops are as
  /// long as a file makes them.
  ValueId visit(ValueId value) {
    std::vector<ValueId> pending{value};
    while (!pending.empty()) {
      const ValueId next = pending.back();
      if (new_id_[index(next)] >= 0) {
        pending.pop_back();
        continue;
      }
      const Op& op = *op_of_[index(next)];
      const std::size_t before = pending.size();
      for (std::size_t i = op.inputs.size(); i-- > 0;) {
        if (new_id_[index(op.inputs[i])] < 0) {
          pending.push_back(op.inputs[i]);
        }
      }
      if (pending.size() == before) {
        copy_op(op);
        pending.pop_back();
      }
    }
    return new_id_[index(value)];
  }

  void copy_op(const Op& op) {
    Op copied = op;
    copied.output = -1;
    for (ValueId& input : copied.inputs) {
      input = new_id_[index(input)];
    }
    const auto [same, is_new] = copied_.try_emplace(op_signature(copied), -1);
    if (is_new) {
      same->second = copied.output = copy_value(op.output);
      to_.ops.push_back(std::move(copied));
    }
    new_id_[index(op.output)] = same->second;
  }

  const Program& from_;
  Program to_;
  std::vector<ValueId> new_id_;  ///< one for each value of `from_`; -1 is not yet copied
  std::vector<const Op*> op_of_;
  std::map<std::string, ValueId> copied_;
};

}  // namespace

Program canonical(const Program& program) { return Copy(program).run(); }

std::string op_signature(const Op& op) {
  const OpAttributes& a = op.attributes;
  return fmt::format(
      "{}({}) alpha {:x} beta {:x} other {:x} dims [{}] keepdim {} shape [{}] index {} slice "
      "{}:{}:{} dtype {}",
      op_name(op.kind),
      fmt::join(op.inputs, " "),
      bits(a.alpha),
      bits(a.beta),
      bits(a.other),
      fmt::join(a.dims, " "),
      a.keepdim ? 1 : 0,
      fmt::join(a.shape, " "),
      a.index,
      a.start,
      a.end,
      a.step,
      a.dtype ? dtype_name(*a.dtype) : "none"
  );
}

}  // namespace whet
