#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/program.hpp"
#include "support/step_interpreter.hpp"

namespace whet::testing {

/// A forward part with data: inputs (strided or not), states, the scalar "lr", ops and an f32 loss.
/// A state whose `after` is its `before` takes a step of SGD; any other takes a forward value.
/// Its outputs are forward values to compare. Every leaf is a compute dtype and wants a gradient.
struct RandomProgram {
  Program forward;
  std::map<ValueId, Values> leaves;  ///< of each input and state, dense
  double rate = 0.0;                 ///< the value of lr
};

/// What was drawn and not used, and why.
struct Rejections {
  std::int64_t num_drawn = 0;
  std::map<std::string, std::int64_t> by_reason;

  std::int64_t total() const;
  void add(const Rejections& other);
};

/// Program number `index` of the sequence that `seed` gives. Data is drawn with the ops, so that an
/// op that would meet a kink of its operands, or results that no bound is useful for, is drawn
/// again; `rejections` counts those.
RandomProgram draw_program(std::uint64_t seed, std::uint64_t index, Rejections& rejections);

/// `program` without what neither loss nor outputs need.
RandomProgram pruned(const RandomProgram& program);

}  // namespace whet::testing
