// Two Programs that share a canonical form have one key. In that form each op is written with the
// numbers of its operands, so the text spells the whole dataflow, as a Merkle hash would.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/sha256.hpp"
#include "ir/canonical.hpp"
#include "ir/workload.hpp"

namespace whet {
namespace {

std::string tensor_text(const TensorDesc& tensor) {
  return fmt::format(
      "[{}] strides [{}] {}",
      fmt::join(tensor.shape, " "),
      fmt::join(tensor.strides, " "),
      dtype_name(tensor.dtype)
  );
}

}  // namespace

std::string workload_key(const Program& step) {
  const Program program = canonical(step);
  Sha256 hash;
  // The version of this text: a change of any format below changes it.
  hash.update("whet.key/1\n");
  for (const ProgramInput& input : program.inputs) {
    hash.update(fmt::format(
        "input {} align {} stable {}\n",
        tensor_text(program.value(input.value)),
        input.alignment_bytes,
        input.stable ? 1 : 0
    ));
  }
  for (const ValueId scalar : program.scalars) {
    hash.update(fmt::format("scalar {}\n", tensor_text(program.value(scalar))));
  }
  for (const ProgramState& state : program.state) {
    hash.update(fmt::format("state {}\n", tensor_text(program.value(state.before))));
  }
  for (const Op& op : program.ops) {
    hash.update(fmt::format("{} = {}\n", op.output, op_signature(op)));
  }
  for (const ProgramState& state : program.state) {
    hash.update(fmt::format("after {}\n", state.after));
  }
  hash.update(fmt::format("outputs [{}]\n", fmt::join(program.outputs, " ")));
  hash.update(fmt::format("loss {}\n", program.loss.value_or(-1)));
  return hash.hex_digest();
}

}  // namespace whet
