#include "codegen/phase_text.hpp"

#include <algorithm>

#include "schedule/state_places.hpp"

namespace whet {
namespace {

bool is_cpu(const EmitContext& context) { return context.schedule.target == Target::Cpu; }

bool holds_state(const EmitContext& context, const Task& task) {
  return held_words_of_tile(context.schedule, task) > 0;
}

/// Computes one tile of a task. `edge` is the one in front of its phase, if that is still open.
void emit_tile(
    TextWriter& text,
    const EmitContext& context,
    const Task& task,
    const std::string& memory,
    const std::string& tile,
    const std::string& edge
) {
  const bool takes_edge = !is_cpu(context) && task.gemm && task.gemm->tiling.direct;
  if (!edge.empty() && !takes_edge) {
    text.line("if (!{}.wait()) return;", edge);
  }
  std::string more;
  if (takes_edge) {
    const std::int64_t words = held_words_of_tile(context.schedule, task);
    more = fmt::format(
        ", {}, {}",
        edge.empty() ? "NoEdge{}" : edge,
        words == 0 ? "nullptr"
                   : fmt::format("state + {} + ({}) * {}", task.first_state_word, tile, words)
    );
  }
  text.line("{}_tile(b, {}, {}{});", identifier(task.name), memory, tile, more);
}

/// Opens the loop over those of `num_tiles` tiles that are the block's, or the condition: they
/// are dealt round-robin to `blocks`, from the block `first_block` on. What tasks hold makes it
/// known places.
void open_tiles(
    TextWriter& text,
    const EmitContext& context,
    std::int64_t blocks,
    std::int64_t num_tiles,
    std::int64_t first_block,
    bool holds_state
) {
  const bool cpu = is_cpu(context);
  std::string block = cpu ? "block" : blocks == 1 ? "0" : "block_index()";
  if (first_block > 0) {
    block =
        fmt::format("{0} < {1} ? {0} + {2} : {0} - {1}", block, first_block, blocks - first_block);
  }
  if (!cpu && num_tiles <= blocks) {
    // A block has one tile at most: known places let the compiler fold what follows from them.
    text.open("if (const int tile = {}; tile < {})", block, num_tiles);
  } else {
    const char* index = cpu ? "i64" : "int";
    if (holds_state) {
      text.raw_line("#pragma unroll");
    }
    const std::string_view stride = cpu || blocks > 1 ? "tile += kBlocks" : "++tile";
    text.open("for ({0} tile = {1}; tile < {2}; {3})", index, block, num_tiles, stride);
  }
}

/// Teams side by side, each with the tiles of its task.
void emit_teams(
    TextWriter& text, const EmitContext& context, const Phase& phase, const std::string& edge
) {
  const Schedule& schedule = context.schedule;
  const int num_warps = schedule.threads / 32;
  const int blocks = sharing_blocks(schedule, phase);
  std::int64_t first_block = 0;  // behind those that have a tile more of the tasks before
  bool first = true;
  for (const Task& task : phase.tasks) {
    if (task.num_tiles == 0) {
      continue;
    }
    const int end = task.first_warp + task.num_warps;
    const std::string condition =
        end == num_warps ? "" : fmt::format("if (warp_index() < {})", end);
    text.open("{}{}{}", first ? "" : "else", first || condition.empty() ? "" : " ", condition);
    open_tiles(text, context, blocks, task.num_tiles, first_block, holds_state(context, task));
    const std::string memory = fmt::format("shared + {}", task.scratch_offset_bytes);
    emit_tile(text, context, task, memory, "tile", edge);
    if (task.num_tiles > blocks && scratch_bytes(task, schedule.target) > 0) {
      text.line("{}::barrier();", team_type(task));
    }
    text.close();
    text.close();
    first_block = (first_block + task.num_tiles) % blocks;
    first = false;
  }
}

}  // namespace

bool has_teams(const Phase& phase) {
  return !phase.tasks.empty() && phase.tasks.back().first_warp > 0;
}

void emit_phase(
    TextWriter& text, const EmitContext& context, const Phase& phase, const std::string& edge
) {
  const Schedule& schedule = context.schedule;
  const bool cpu = is_cpu(context);
  if (has_teams(phase)) {
    emit_teams(text, context, phase, edge);
    return;
  }
  const int blocks = sharing_blocks(schedule, phase);
  const char* memory = cpu ? "scratch" : "shared";
  std::int64_t total = 0;
  for (const Task& task : phase.tasks) {
    total += task.num_tiles;
  }
  const bool has_state = std::any_of(phase.tasks.begin(), phase.tasks.end(), [&](const Task& task) {
    return holds_state(context, task);
  });
  const Task& of_team = phase.tasks.front();
  const bool is_whole = cpu || of_team.num_warps * 32 == schedule.threads;
  if (!is_whole) {
    text.open("if (warp_index() < {})", of_team.num_warps);
  }
  open_tiles(text, context, blocks, total, 0, has_state);
  std::int64_t first = 0;
  bool has_scratch = false;
  for (const Task& task : phase.tasks) {
    has_scratch |= !cpu && scratch_bytes(task, schedule.target) > 0;
    if (task.num_tiles == 0) {
      continue;
    }
    const std::string tile = first == 0 ? "tile" : fmt::format("tile - {}", first);
    const bool is_only = first == 0 && task.num_tiles == total;
    if (first + task.num_tiles < total) {
      text.open("{}if (tile < {})", first == 0 ? "" : "else ", first + task.num_tiles);
    } else if (!is_only) {
      text.open("else");
    }
    emit_tile(text, context, task, memory, tile, edge);
    if (!is_only) {
      text.close();
    }
    first += task.num_tiles;
  }
  if (has_scratch && total > blocks) {
    text.line(
        "{};  // the next tile uses the same shared memory",
        is_whole ? "block_barrier()" : team_type(of_team) + "::barrier()"
    );
  }
  text.close();
  if (!is_whole) {
    text.close();
  }
}

void emit_held_state(TextWriter& text, const EmitContext& context, bool to_registers) {
  const Schedule& schedule = context.schedule;
  for (const Phase& phase : schedule.phases) {
    for (const Task& task : phase.tasks) {
      if (!holds_state(context, task)) {
        continue;
      }
      const bool is_whole = task.num_warps * 32 == schedule.threads;
      if (!is_whole) {
        text.open(
            "if (warp_index() >= {} && warp_index() < {})",
            task.first_warp,
            task.first_warp + task.num_warps
        );
      }
      for (std::int64_t tile = 0; tile < task.num_tiles; ++tile) {
        text.line(
            "{}<{}>(b, {}, state + {});",
            to_registers ? "hold_state" : "save_state",
            product_types(task),
            tile,
            task.first_state_word + tile * held_words_of_tile(schedule, task)
        );
      }
      if (!is_whole) {
        text.close();
      }
    }
  }
}

}  // namespace whet
