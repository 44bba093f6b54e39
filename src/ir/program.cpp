#include "ir/program.hpp"

#include <utility>

#include "ir/infer.hpp"

namespace whet {

ValueId append_op(
    Program& program,
    OpKind kind,
    std::vector<ValueId> inputs,
    OpAttributes attributes,
    std::string name
) {
  Inferred inferred = infer(program, kind, inputs, attributes);
  inferred.result.name = std::move(name);
  const auto output = static_cast<ValueId>(program.values.size());
  program.values.push_back(std::move(inferred.result));
  program.ops.push_back(
      {.kind = kind,
       .inputs = std::move(inputs),
       .output = output,
       .attributes = std::move(inferred.attributes)}
  );
  return output;
}

bool copies(const Program& program, const Op& op) {
  return op.kind == OpKind::Reshape &&
         !reshape_strides(program.value(op.inputs.at(0)), op.attributes.shape);
}

}  // namespace whet
