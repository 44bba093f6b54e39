#include "ir/file_ops.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/error.hpp"
#include "ir/op_syntax.hpp"

namespace whet {
namespace {

/// The list of ops while it is turned into a Program.
class OpList {
 public:
  OpList(const JsonCursor& list, const DimTable& dims) : list_(list) {
    for (const JsonCursor& entry : list.items()) {
      cursors_.push_back(entry);
      ops_.push_back(parse_op_syntax(entry, dims));
      // The first of two ops with one name counts here; define() refuses the second.
      definer_.emplace(read_name(ops_.back().output), ops_.size() - 1);
    }
  }

  void append_to(Program& program, NameTable& names) {
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      std::vector<ValueId> inputs;
      for (const JsonCursor& input : ops_[i].inputs) {
        const std::optional<ValueId> value = names.find(input.as_string());
        inputs.push_back(value ? *value : refuse(input, i, names));
      }
      const std::string name = ops_[i].output.as_string();
      const ValueId result = append(program, i, std::move(inputs), name);
      names.define(ops_[i].output, name, result);
    }
  }

 private:
  ValueId append(Program& program, std::size_t i, std::vector<ValueId> inputs, std::string name) {
    try {
      return append_op(
          program, ops_[i].kind, std::move(inputs), ops_[i].attributes, std::move(name)
      );
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: {}", cursors_[i].where(), error.what()));
    }
  }

  /// Says why op `i` cannot have the operand `input`, which no earlier op defines.
  [[noreturn]] ValueId refuse(const JsonCursor& input, std::size_t i, const NameTable& names) {
    const std::string name = input.as_string();
    const auto definer = definer_.find(name);
    if (definer == definer_.end()) {
      names.refuse_dangling(input, name);
    }
    const std::string cycle = find_cycle(i, definer->second);
    if (!cycle.empty()) {
      input.fail("ops without a cycle", cycle);
    }
    input.fail(
        "a value that an earlier op defines",
        fmt::format(
            "{}, which op {} of this list defines later: move it up",
            quoted_name(name),
            definer->second
        )
    );
  }

  /// "a" needs "b" needs "a", when the op `from` needs the result of `to`; else empty.
  std::string find_cycle(std::size_t to, std::size_t from) const {
    std::vector<std::size_t> needed_by(ops_.size(), ops_.size());  // the op that led here
    std::vector<std::size_t> pending{from};
    needed_by[from] = to;
    while (!pending.empty() && needed_by[to] == ops_.size()) {
      const std::size_t op = pending.back();
      pending.pop_back();
      for (const JsonCursor& input : ops_[op].inputs) {
        const auto definer = definer_.find(input.as_string());
        if (definer != definer_.end() && needed_by[definer->second] == ops_.size()) {
          needed_by[definer->second] = op;
          pending.push_back(definer->second);
        }
      }
    }
    if (needed_by[to] == ops_.size()) {
      return "";
    }
    std::string text = output_name(to);
    for (std::size_t op = needed_by[to]; op != to; op = needed_by[op]) {
      text = output_name(op) + " needs " + text;
    }
    return output_name(to) + " needs " + text;
  }

  std::string output_name(std::size_t op) const { return quoted_name(ops_[op].output.as_string()); }

  const JsonCursor& list_;
  std::vector<JsonCursor> cursors_;
  std::vector<OpSyntax> ops_;
  std::unordered_map<std::string, std::size_t> definer_;
};

}  // namespace

void read_ops(const JsonCursor& list, const DimTable& dims, NameTable& names, Program& program) {
  OpList(list, dims).append_to(program, names);
}

}  // namespace whet
