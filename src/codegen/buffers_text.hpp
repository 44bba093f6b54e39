#pragma once

#include "artifact/launch_plan.hpp"
#include "codegen/text.hpp"
#include "ir/program.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// Defines `StepArguments`, the argument block of a launch (see LaunchPlan).
void emit_arguments(TextWriter& text, const LaunchPlan& plan);

/// Defines `Buffers`, a pointer for each buffer of the schedule, and `buffers_of_step(args, step,
/// batch)`, which finds them for a step of the launch.
void emit_buffers(TextWriter& text, const Program& program, const Schedule& schedule);

/// Defines `prefetch(args, step, batch, stable)`, which asks for the inputs of a step of the
/// launch.
void emit_prefetch(TextWriter& text, const Schedule& schedule);

/// The copies of state that is in shared memory while a launch runs, to there or back.
void emit_residents(TextWriter& text, const Schedule& schedule, bool to_shared);

}  // namespace whet
