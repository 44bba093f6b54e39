#pragma once

#include <string>

#include "codegen/text.hpp"
#include "schedule/device_limits.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// What the text of a task needs to know besides the task.
struct EmitContext {
  const Schedule& schedule;
  const DeviceLimits& limits;
};

/// Defines `<name>_tile(b, scratch, tile)`, one tile of a task, for the CPU target.
void emit_cpu_task(TextWriter& text, const Task& task, const EmitContext& context);

/// The type of the threads that compute a task's tiles: "::Team<0, 8>", see device/team.cuh.
std::string team_type(const Task& task);

/// Defines `<name>_tile(b, shared, tile)`, one tile of a task by its team, for CUDA. The team
/// meets before `shared` is used again. A product with direct operands takes an edge too, see
/// device/edge.cuh, for which it waits itself, and what its thread holds of the tile.
void emit_cuda_task(TextWriter& text, const Task& task, const EmitContext& context);

/// "Mm1Dw, MmaAccumulator<Mm1Dw>": a product and where its sums are.
std::string product_types(const Task& task);

/// The part of emit_cuda_task for products.
void emit_cuda_gemm(TextWriter& text, const Task& task, const EmitContext& context);

/// "// mm1: [16, 128] = sum over 64; 4 tiles".
std::string task_comment(const Task& task);

}  // namespace whet
