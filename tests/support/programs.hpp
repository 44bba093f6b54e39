#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/differentiate.hpp"
#include "ir/program.hpp"

namespace whet::testing {

/// Builds Programs in a few words.
class ProgramBuilder {
 public:
  Program program;

  ValueId tensor(const std::string& name, std::vector<std::int64_t> shape, DType dtype) {
    TensorDesc desc{.name = name, .shape = std::move(shape), .strides = {}, .dtype = dtype};
    desc.strides = contiguous_strides(desc.shape);
    program.values.push_back(std::move(desc));
    return static_cast<ValueId>(program.values.size()) - 1;
  }
  ValueId input(const std::string& name, std::vector<std::int64_t> shape, DType dtype) {
    const ValueId v = tensor(name, std::move(shape), dtype);
    program.inputs.push_back({.value = v, .stable = true});
    return v;
  }
  ValueId state(const std::string& name, std::vector<std::int64_t> shape) {
    const ValueId v = tensor(name, std::move(shape), DType::F32);
    program.state.push_back({.before = v, .after = v});
    return v;
  }
  ValueId op(OpKind kind, std::vector<ValueId> inputs, OpAttributes attributes = {}) {
    return append_op(
        program, kind, std::move(inputs), std::move(attributes), "v" + std::to_string(++count_)
    );
  }
  ValueId cast(ValueId v, DType dtype) {
    return program.value(v).dtype == dtype ? v : op(OpKind::Cast, {v}, {.dtype = dtype});
  }
  /// x w + b in `dtype`, from f32 masters.
  ValueId linear(ValueId x, ValueId w, ValueId b, DType dtype) {
    return op(OpKind::Add, {op(OpKind::Mm, {x, cast(w, dtype)}), cast(b, dtype)});
  }
  /// The mean squared error, gradients of all states, and SGD with a device-resident rate.
  Program finish(ValueId y, ValueId target) {
    const ValueId lr = tensor("lr", {}, DType::F32);
    program.scalars.push_back(lr);
    const ValueId loss = op(OpKind::MseLoss, {cast(y, DType::F32), cast(target, DType::F32)});
    return descend(loss, lr);
  }
  Program descend(ValueId loss, ValueId lr) {
    std::vector<ValueId> targets;
    for (const ProgramState& state : program.state) {
      targets.push_back(state.before);
    }
    const std::vector<ValueId> grads = differentiate(program, loss, targets);
    for (std::size_t i = 0; i < grads.size(); ++i) {
      const ValueId step = op(OpKind::Mul, {grads[i], lr});
      program.state[i].after = op(OpKind::Sub, {targets[i], step});
    }
    program.outputs.push_back(loss);
    program.loss = loss;
    verify(program);
    return program;
  }

 private:
  int count_ = 0;
};

/// Linear layers of these widths with relu between them, from the width of the input to that of the
/// output: one SGD step on the mean squared error.
inline Program layers(std::int64_t batch, const std::vector<std::int64_t>& widths, DType dtype) {
  ProgramBuilder b;
  const std::size_t depth = widths.size() - 1;
  ValueId h = b.input("x", {batch, widths.front()}, dtype);
  const ValueId target = b.input("target", {batch, widths.back()}, dtype);
  std::vector<ValueId> state;
  for (std::size_t i = 0; i < depth; ++i) {
    state.push_back(b.state("w" + std::to_string(i + 1), {widths[i], widths[i + 1]}));
    state.push_back(b.state("b" + std::to_string(i + 1), {widths[i + 1]}));
  }
  for (std::size_t i = 0; i < depth; ++i) {
    h = b.linear(h, state[2 * i], state[2 * i + 1], dtype);
    h = i + 1 < depth ? b.op(OpKind::Relu, {h}) : h;
  }
  return b.finish(h, target);
}

/// The seeds' two-layer network.
inline Program mlp(
    std::int64_t batch, std::int64_t in, std::int64_t hidden, std::int64_t out, DType dtype
) {
  return layers(batch, {in, hidden, out}, dtype);
}

/// One linear layer with a least-squares loss.
inline Program head(std::int64_t batch, std::int64_t in, std::int64_t out, DType dtype) {
  return layers(batch, {in, out}, dtype);
}

/// y = (x W) W^T: one weight used twice.
inline Program tied(std::int64_t batch, std::int64_t in, std::int64_t hidden, DType dtype) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {batch, in}, dtype);
  const ValueId w = b.state("w", {in, hidden});
  const ValueId low = b.cast(w, dtype);
  const ValueId up = b.op(OpKind::Mm, {x, low});
  const ValueId y = b.op(OpKind::Mm, {up, b.op(OpKind::Transpose, {low}, {.dims = {0, 1}})});
  return b.finish(y, x);
}

/// Two layers of one width with a residual connection around each.
inline Program residual(std::int64_t batch, std::int64_t width, DType dtype) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {batch, width}, dtype);
  const ValueId target = b.input("target", {batch, width}, dtype);
  ValueId h = x;
  for (const char* name : {"w1", "w2"}) {
    const ValueId w = b.state(name, {width, width});
    const ValueId bias = b.state(std::string(name) + "_bias", {width});
    h = b.op(OpKind::Add, {h, b.op(OpKind::Relu, {b.linear(h, w, bias, dtype)})});
  }
  return b.finish(h, target);
}

/// A hidden layer that two linear heads share; the loss is the sum of theirs.
inline Program two_heads(
    std::int64_t batch,
    std::int64_t in,
    std::int64_t hidden,
    std::int64_t first,
    std::int64_t second,
    DType dtype
) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {batch, in}, dtype);
  const auto layer = [&](const std::string& name, ValueId from, std::int64_t k, std::int64_t n) {
    return b.linear(from, b.state("w_" + name, {k, n}), b.state("b_" + name, {n}), dtype);
  };
  const ValueId h = b.op(OpKind::Relu, {layer("hidden", x, in, hidden)});
  const auto loss = [&](const std::string& name, std::int64_t out) {
    const ValueId target = b.input("target_" + name, {batch, out}, dtype);
    const ValueId y = layer(name, h, hidden, out);
    return b.op(OpKind::MseLoss, {b.cast(y, DType::F32), b.cast(target, DType::F32)});
  };
  const ValueId of_first = loss("first", first);
  const ValueId of_second = loss("second", second);
  const ValueId lr = b.tensor("lr", {}, DType::F32);
  b.program.scalars.push_back(lr);
  return b.descend(b.op(OpKind::Add, {of_first, of_second}), lr);
}

/// Two states that take each other's place, transposed, each step.
inline Program swap(std::int64_t rows, std::int64_t columns) {
  ProgramBuilder b;
  const ValueId a = b.state("a", {rows, columns});
  const ValueId c = b.state("c", {columns, rows});
  const auto turned = [&](ValueId v) {
    return b.op(OpKind::Mul, {b.op(OpKind::Transpose, {v}, {.dims = {0, 1}})}, {.other = 0.5});
  };
  b.program.state[0].after = turned(c);
  b.program.state[1].after = turned(a);
  verify(b.program);
  return b.program;
}

}  // namespace whet::testing
