#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "ir/program.hpp"

namespace whet {

void verify(const Program& program) {
  std::vector<char> defined(program.values.size(), 0);
  const auto define = [&](ValueId v, const char* what) {
    WHET_CHECK(
        v >= 0 && static_cast<std::size_t>(v) < defined.size(), "{} names value {}", what, v
    );
    char& flag = defined[static_cast<std::size_t>(v)];
    WHET_CHECK(flag == 0, "{} writes {} again", what, program.value(v).name);
    flag = 1;
  };
  for (const ProgramInput& input : program.inputs) {
    define(input.value, "an input");
  }
  for (const ValueId scalar : program.scalars) {
    define(scalar, "a scalar");
    WHET_CHECK(program.value(scalar).shape.empty(), "{} is 0-d", program.value(scalar).name);
  }
  for (const ProgramState& state : program.state) {
    define(state.before, "a state");
  }
  Program replay;
  replay.values = program.values;
  for (const Op& op : program.ops) {
    for (const ValueId input : op.inputs) {
      WHET_CHECK(
          input >= 0 && static_cast<std::size_t>(input) < defined.size() &&
              defined[static_cast<std::size_t>(input)] != 0,
          "{} reads value {} before it is written", op_name(op.kind), input
      );
    }
    const ValueId again = append_op(replay, op.kind, op.inputs, op.attributes, "");
    const TensorDesc& inferred = replay.value(again);
    const TensorDesc& declared = program.value(op.output);
    WHET_CHECK(
        inferred.shape == declared.shape && inferred.dtype == declared.dtype &&
            inferred.strides == declared.strides,
        "{} gives {}, declared {}", op_name(op.kind), describe(inferred), describe(declared)
    );
    replay.values.pop_back();
    define(op.output, "an op");
  }
  for (const ProgramState& state : program.state) {
    const TensorDesc& before = program.value(state.before);
    const TensorDesc& after = program.value(state.after);
    WHET_CHECK(
        defined[static_cast<std::size_t>(state.after)] != 0 && before.shape == after.shape &&
            before.dtype == after.dtype,
        "state {} is {}, its new value {}", before.name, describe(before), describe(after)
    );
  }
  for (const ValueId output : program.outputs) {
    WHET_CHECK(defined[static_cast<std::size_t>(output)] != 0, "an output is never written");
  }
}

std::string to_text(const Program& program) {
  std::string text;
  const auto line = [&](const char* role, ValueId v) {
    text += fmt::format("{} {} {}\n", role, program.value(v).name, describe(program.value(v)));
  };
  for (const ProgramInput& input : program.inputs) {
    line("input ", input.value);
  }
  for (const ValueId scalar : program.scalars) {
    line("scalar", scalar);
  }
  for (const ProgramState& state : program.state) {
    line("state ", state.before);
  }
  for (const Op& op : program.ops) {
    std::vector<std::string> operands;
    for (const ValueId input : op.inputs) {
      operands.push_back(program.value(input).name);
    }
    text += fmt::format(
        "{} {} = {}({})\n", program.value(op.output).name, describe(program.value(op.output)),
        op_name(op.kind), fmt::join(operands, ", ")
    );
  }
  for (const ProgramState& state : program.state) {
    text += fmt::format(
        "{} <- {}\n", program.value(state.before).name, program.value(state.after).name
    );
  }
  for (const ValueId output : program.outputs) {
    line("output", output);
  }
  return text;
}

}  // namespace whet
