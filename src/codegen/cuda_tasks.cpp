#include <fmt/format.h>

#include "codegen/expression.hpp"
#include "codegen/task_text.hpp"

namespace whet {
namespace {

void emit_map(TextWriter& text, const Task& task, const EmitContext& context) {
  text.open("WHET_DEVICE void {}_tile(const Buffers& b, char*, int tile)", identifier(task.name));
  text.line("using Team = {};", team_type(task));
  text.line(
      "const index_t end = least<index_t>((tile + index_t{{1}}) * {}, {});",
      task.tile_elements,
      num_elements(task.domain)
  );
  text.open(
      "for (index_t i = index_t{{tile}} * {} + Team::thread(); i < end; i += Team::kSize)",
      task.tile_elements
  );
  const std::vector<std::string> indices = emit_indices(text, task.domain, "i", "i", "index_t");
  emit_nodes(
      text, task, context.schedule.buffers, 0, static_cast<int>(task.nodes.size()), indices, ""
  );
  emit_stores(text, task, context.schedule.buffers, indices);
  text.close();
  text.close();
}

void emit_reduce(TextWriter& text, const Task& task, const EmitContext& context) {
  const auto& buffers = context.schedule.buffers;
  const ReduceTask& reduce = *task.reduce;
  const auto outer = static_cast<long>(task.domain.size()) - reduce.num_reduced_dims;
  const std::vector<std::int64_t> kept(task.domain.begin(), task.domain.begin() + outer);
  const std::vector<std::int64_t> summed(task.domain.begin() + outer, task.domain.end());
  const std::int64_t per_tile = reduce.outputs_per_tile;
  text.open(
      "WHET_DEVICE void {}_tile(const Buffers& b, char* shared, int tile)", identifier(task.name)
  );
  text.line("using Team = {};", team_type(task));
  text.line("const index_t split = tile % {};", reduce.splits);
  text.line(
      "const index_t output = tile / {} * {} + Team::thread() % {};",
      reduce.splits,
      per_tile,
      per_tile
  );
  text.line("const bool has_output = output < {};", num_elements(kept));
  text.line("float partial = 0.0f;");
  text.open("if (has_output)");
  std::vector<std::string> indices = emit_indices(text, kept, "output", "o", "index_t");
  text.line(
      "const index_t end = (split + 1) * index_t{{{}}} / {};", num_elements(summed), reduce.splits
  );
  text.raw_line("#pragma unroll 4");
  text.open(
      "for (index_t term = split * index_t{{{0}}} / {1} + Team::thread() / {2}; term < end; term "
      "+= "
      "Team::kSize / {2})",
      num_elements(summed),
      reduce.splits,
      per_tile
  );
  for (const std::string& name : emit_indices(text, summed, "term", "r", "index_t")) {
    indices.push_back(name);
  }
  emit_nodes(text, task, buffers, 0, reduce.operand + 1, indices, "");
  text.line("partial += v{};", reduce.operand);
  text.close();
  text.close();
  text.line(
      "const float sum = team_sum<Team, {}>(reinterpret_cast<float*>(shared), partial);", per_tile
  );
  text.open("if (has_output && Team::thread() < {})", per_tile);
  indices = emit_indices(text, kept, "output", "o", "index_t");
  emit_nodes(
      text, task, buffers, reduce.operand + 1, static_cast<int>(task.nodes.size()), indices, "sum"
  );
  indices.push_back("split");
  emit_stores(text, task, buffers, indices);
  text.close();
  text.close();
}

}  // namespace

std::string team_type(const Task& task) {
  return fmt::format("::Team<{}, {}>", task.first_warp, task.num_warps);
}

void emit_cuda_task(TextWriter& text, const Task& task, const EmitContext& context) {
  text.line("{}", task_comment(task));
  switch (task.kind) {
    case Task::Kind::Gemm:
      emit_cuda_gemm(text, task, context);
      break;
    case Task::Kind::Map:
      emit_map(text, task, context);
      break;
    case Task::Kind::Reduce:
      emit_reduce(text, task, context);
      break;
  }
  text.blank();
}

}  // namespace whet
