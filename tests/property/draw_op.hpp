#pragma once

#include "property/drawn_program.hpp"

namespace whet::testing {

/// Draws an op of any kind with operands that fit. False: it was rejected, or nothing fits it.
bool draw_op(DrawnProgram& drawn);

}  // namespace whet::testing
