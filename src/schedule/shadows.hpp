#pragma once

#include <vector>

#include "ir/program.hpp"

namespace whet {

/// A Program with hidden state: 16-bit copies of f32 state that products read through a cast. The
/// step keeps a copy with the state it belongs to, so that no product reads f32; whoever changes
/// the state from outside has to have the copies made again (`refresh`).
struct ShadowedProgram {
  Program program;              ///< hidden state behind the state of the original
  std::size_t num_visible = 0;  ///< state of the original
  std::vector<int> shadowed;    ///< of each hidden state, the state that it is a copy of

  bool is_hidden(std::size_t state) const { return state >= num_visible; }
};

/// Adds a copy for each dense state and dtype that some product reads. Values keep their ids: the
/// cast becomes the copy.
ShadowedProgram with_shadows(const Program& program);

/// The Program as it is, without copies.
ShadowedProgram without_shadows(const Program& program);

}  // namespace whet
