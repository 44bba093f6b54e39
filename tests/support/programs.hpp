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

/// The seeds' two-layer network: one SGD step on the mean squared error.
inline Program mlp(
    std::int64_t batch, std::int64_t in, std::int64_t hidden, std::int64_t out, DType dtype
) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {batch, in}, dtype);
  const ValueId target = b.input("target", {batch, out}, dtype);
  const ValueId w1 = b.state("w1", {in, hidden});
  const ValueId b1 = b.state("b1", {hidden});
  const ValueId w2 = b.state("w2", {hidden, out});
  const ValueId b2 = b.state("b2", {out});
  const ValueId h = b.op(OpKind::Relu, {b.linear(x, w1, b1, dtype)});
  return b.finish(b.linear(h, w2, b2, dtype), target);
}

/// One linear layer with a least-squares loss.
inline Program head(std::int64_t batch, std::int64_t in, std::int64_t out, DType dtype) {
  ProgramBuilder b;
  const ValueId x = b.input("x", {batch, in}, dtype);
  const ValueId target = b.input("target", {batch, out}, dtype);
  const ValueId w = b.state("w", {in, out});
  const ValueId bias = b.state("b", {out});
  return b.finish(b.linear(x, w, bias, dtype), target);
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
