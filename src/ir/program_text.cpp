#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "ir/program.hpp"

namespace whet {
namespace {

/// As it is when it reads as one word, else quoted.
std::string shown(const std::string& name) {
  const bool plain =
      !name.empty() && name.size() <= 80 &&
      std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return c >= 0x80 || std::isalnum(c) != 0 ||
               std::string_view("_.:-'").find(static_cast<char>(c)) != std::string_view::npos;
      });
  return plain ? name : quoted_name(name);
}

std::string value_text(const Program& program, ValueId id) {
  const TensorDesc& tensor = program.value(id);
  std::string text = fmt::format("{} {}", shown(tensor.name), describe(tensor));
  if (!is_contiguous(tensor)) {
    text += fmt::format(" strides [{}]", fmt::join(tensor.strides, ", "));
  }
  return text;
}

/// What differs from the default, and what an op cannot be read without.
std::vector<std::string> attribute_texts(const Op& op) {
  const OpAttributes& given = op.attributes;
  std::vector<std::string> texts;
  if (given.alpha != 1.0) {
    texts.push_back(fmt::format("alpha={}", given.alpha));
  }
  if (given.beta != 1.0) {
    texts.push_back(fmt::format("beta={}", given.beta));
  }
  const bool reads_other = op.kind == OpKind::Pow || op.kind == OpKind::Full ||
                           op.kind == OpKind::ThresholdBackward ||
                           (is_pointwise(op.kind) && op.inputs.size() == 1 &&
                            (op.kind == OpKind::Add || op.kind == OpKind::Sub ||
                             op.kind == OpKind::Mul || op.kind == OpKind::Div));
  if (reads_other) {
    texts.push_back(fmt::format("{}", given.other));
  }
  if (!given.dims.empty()) {
    texts.push_back(fmt::format("dims=[{}]", fmt::join(given.dims, ", ")));
  }
  if (given.keepdim) {
    texts.emplace_back("keepdim");
  }
  if (op.kind == OpKind::SelectBackward || op.kind == OpKind::SliceBackward) {
    texts.push_back(fmt::format("shape=[{}]", fmt::join(given.shape, ", ")));
  }
  if (op.kind == OpKind::Select || op.kind == OpKind::SelectBackward) {
    texts.push_back(fmt::format("index={}", given.index));
  }
  if (op.kind == OpKind::Slice || op.kind == OpKind::SliceBackward) {
    texts.push_back(fmt::format("{}:{}:{}", given.start, given.end, given.step));
  }
  return texts;
}

}  // namespace

std::string to_text(const Program& program) {
  std::string text;
  for (const ProgramInput& input : program.inputs) {
    text += fmt::format(
        "input {}{} align {}\n",
        value_text(program, input.value),
        input.stable ? " stable" : "",
        input.alignment_bytes
    );
  }
  for (const ValueId scalar : program.scalars) {
    text += fmt::format("scalar {}\n", value_text(program, scalar));
  }
  for (const ProgramState& state : program.state) {
    text += fmt::format(
        "state {} <- {}\n",
        value_text(program, state.before),
        shown(program.value(state.after).name)
    );
  }
  for (const Op& op : program.ops) {
    std::vector<std::string> arguments;
    for (const ValueId input : op.inputs) {
      arguments.push_back(shown(program.value(input).name));
    }
    for (std::string& attribute : attribute_texts(op)) {
      arguments.push_back(std::move(attribute));
    }
    text += fmt::format(
        "{} = {}({})\n",
        value_text(program, op.output),
        op_name(op.kind),
        fmt::join(arguments, ", ")
    );
  }
  for (const ValueId output : program.outputs) {
    text += fmt::format("output {}\n", shown(program.value(output).name));
  }
  if (program.loss) {
    text += fmt::format("loss {}\n", shown(program.value(*program.loss).name));
  }
  return text;
}

}  // namespace whet
