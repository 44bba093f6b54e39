#pragma once

#include <string>

#include "codegen/task_text.hpp"

namespace whet {

/// Whether the tasks of a phase run side by side on teams of a block.
bool has_teams(const Phase& phase);

/// Computes the block's tiles of all tasks of a phase, which are dealt round-robin to blocks.
/// `edge` is the one in front of the phase, if that is still open.
void emit_phase(
    TextWriter& text, const EmitContext& context, const Phase& phase, const std::string& edge
);

/// Takes the state that tasks hold in registers, `float state[]` of the kernel, from memory, or
/// gives it back.
void emit_held_state(TextWriter& text, const EmitContext& context, bool to_registers);

}  // namespace whet
