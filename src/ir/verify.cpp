#include <algorithm>
#include <bit>

#include "ir/canonical.hpp"
#include "ir/infer.hpp"
#include "ir/program.hpp"

namespace whet {
namespace {

/// Walks a Program in its order and knows which values exist so far.
class Verifier {
 public:
  explicit Verifier(const Program& program)
      : program_(program), defined_(program.values.size(), false) {}

  void interface() {
    for (const ProgramInput& input : program_.inputs) {
      define(input.value, "input");
      strides(program_.value(input.value));
      WHET_CHECK(
          input.alignment_bytes > 0 &&
              std::has_single_bit(static_cast<std::uint64_t>(input.alignment_bytes)),
          "input {}: alignment {} is no power of two",
          name(input.value),
          input.alignment_bytes
      );
    }
    for (const ValueId scalar : program_.scalars) {
      define(scalar, "scalar");
      const TensorDesc& tensor = program_.value(scalar);
      WHET_CHECK(
          tensor.shape.empty() && (tensor.dtype == DType::F32 || tensor.dtype == DType::I64),
          "scalar {} is {}, not 0-d f32 or i64",
          name(scalar),
          describe(tensor)
      );
    }
    for (const ProgramState& state : program_.state) {
      define(state.before, "state");
      strides(program_.value(state.before));
    }
  }

  void ops() {
    for (const Op& op : program_.ops) {
      for (const ValueId input : op.inputs) {
        require_defined(input, op_name(op.kind));
      }
      Inferred inferred = inferred_again(op);
      define(op.output, op_name(op.kind));
      const TensorDesc& stored = program_.value(op.output);
      inferred.result.name = stored.name;
      WHET_CHECK(
          stored == inferred.result,
          "{} = {}: stored as {}, inferred as {}",
          name(op.output),
          op_name(op.kind),
          describe(stored),
          describe(inferred.result)
      );
      Op again = op;
      again.attributes = inferred.attributes;
      WHET_CHECK(  // not by ==, for which a NaN differs from itself
          op_signature(op) == op_signature(again),
          "{} = {}: its attributes are not canonical",
          name(op.output),
          op_name(op.kind)
      );
    }
  }

  void results() {
    for (const ProgramState& state : program_.state) {
      require_defined(state.after, "the new value of a state tensor");
      const TensorDesc& before = program_.value(state.before);
      const TensorDesc& after = program_.value(state.after);
      WHET_CHECK(
          before.shape == after.shape && before.dtype == after.dtype,
          "state {} is {}, its new value {} is {}",
          name(state.before),
          describe(before),
          name(state.after),
          describe(after)
      );
    }
    for (const ValueId output : program_.outputs) {
      require_defined(output, "an output");
    }
    if (program_.loss) {
      require_defined(*program_.loss, "the loss");
      const TensorDesc& loss = program_.value(*program_.loss);
      WHET_CHECK(
          loss.shape.empty() && loss.dtype == DType::F32,
          "loss {} is {}, not 0-d f32",
          name(*program_.loss),
          describe(loss)
      );
    }
    const auto orphan = std::find(defined_.begin(), defined_.end(), false);
    WHET_CHECK(orphan == defined_.end(), "value {} is never defined", orphan - defined_.begin());
  }

 private:
  std::string name(ValueId id) const { return quoted_name(program_.value(id).name); }

  bool in_range(ValueId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < defined_.size();
  }

  void define(ValueId id, std::string_view by) {
    WHET_CHECK(in_range(id), "{} defines value {} of {}", by, id, defined_.size());
    WHET_CHECK(!defined_[static_cast<std::size_t>(id)], "{} defines {} again", by, name(id));
    defined_[static_cast<std::size_t>(id)] = true;
  }

  void require_defined(ValueId id, std::string_view by) const {
    WHET_CHECK(in_range(id), "{} is value {} of {}", by, id, defined_.size());
    WHET_CHECK(
        defined_[static_cast<std::size_t>(id)], "{} reads {} before it is defined", by, name(id)
    );
  }

  void strides(const TensorDesc& tensor) const {
    WHET_CHECK(
        tensor.strides.size() == tensor.shape.size() &&
            std::all_of(
                tensor.strides.begin(),
                tensor.strides.end(),
                [](std::int64_t stride) { return stride >= 0; }
            ),
        "{} has strides that do not fit its shape",
        quoted_name(tensor.name)
    );
  }

  Inferred inferred_again(const Op& op) const {
    try {
      return infer(program_, op.kind, op.inputs, op.attributes);
    } catch (const UserError& error) {
      WHET_CHECK(false, "{}", error.what());
    }
  }

  const Program& program_;
  std::vector<bool> defined_;
};

}  // namespace

void verify(const Program& program) {
  Verifier verifier(program);
  verifier.interface();
  verifier.ops();
  verifier.results();
}

}  // namespace whet
