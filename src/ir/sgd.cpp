#include "ir/sgd.hpp"

#include "base/error.hpp"

namespace whet {

void append_sgd(Program& program, const std::vector<ValueId>& gradients, ValueId lr) {
  WHET_CHECK(
      gradients.size() == program.state.size(),
      "{} gradients for {} state tensors",
      gradients.size(),
      program.state.size()
  );
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const ValueId before = program.state[i].before;
    const DType dtype = program.value(before).dtype;
    const std::string name = program.value(before).name;
    ValueId rate = lr;
    if (program.value(lr).dtype != dtype) {
      rate = append_op(
          program, OpKind::Cast, {lr}, {.dtype = dtype}, program.value(lr).name + ":" + name
      );
    }
    const ValueId update =
        append_op(program, OpKind::Mul, {gradients[i], rate}, {}, "update:" + name);
    program.state[i].after = append_op(program, OpKind::Sub, {before, update}, {}, "after:" + name);
  }
}

}  // namespace whet
