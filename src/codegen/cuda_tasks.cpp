#include <fmt/format.h>

#include "codegen/expression.hpp"
#include "codegen/task_text.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

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
  const std::int64_t terms = num_elements(summed);
  const std::int64_t terms_per_split = ceil_div(terms, reduce.splits);
  const std::int64_t groups = num_threads(task) / per_tile;
  const bool is_even = terms % reduce.splits == 0 && terms_per_split % groups == 0;
  text.line("const index_t split = tile % {};", reduce.splits);
  text.line(
      "const index_t output = tile / {} * {} + Team::thread() % {};",
      reduce.splits,
      per_tile,
      per_tile
  );
  text.line("const bool has_output = output < {};", num_elements(kept));
  text.line("const bool finishes = has_output && Team::thread() < {};", per_tile);
  // What follows the sum is under way while it is summed.
  std::map<int, std::string> loaded;
  for (Index n = Index(reduce.operand) + 1; n < task.nodes.size(); ++n) {
    if (task.nodes[n].kind == ExprNode::Kind::Load) {
      loaded[static_cast<int>(n)] = fmt::format("loaded{}", n);
      text.line("float loaded{} = 0.0f;", n);
    }
  }
  if (!loaded.empty()) {
    text.open("if (finishes)");
    const std::vector<std::string> indices = emit_indices(text, kept, "output", "o", "index_t");
    for (const auto& [n, name] : loaded) {
      text.line("{} = {};", name, load_expression(task.nodes[Index(n)], buffers, indices));
    }
    text.close();
  }
  text.line("float partial = 0.0f;");
  text.open("if (has_output)");
  std::vector<std::string> indices = emit_indices(text, kept, "output", "o", "index_t");
  text.line("const index_t begin = split * index_t{{{}}} / {};", terms, reduce.splits);
  if (!is_even) {
    text.line("const index_t end = (split + 1) * index_t{{{}}} / {};", terms, reduce.splits);
  }
  text.raw_line("#pragma unroll 16");
  text.open("for (index_t round = 0; round < {}; ++round)", ceil_div(terms_per_split, groups));
  text.line("const index_t term = begin + round * {} + Team::thread() / {};", groups, per_tile);
  if (!is_even) {
    text.open("if (term < end)");
  }
  for (const std::string& name : emit_indices(text, summed, "term", "r", "index_t")) {
    indices.push_back(name);
  }
  emit_nodes(text, task, buffers, 0, reduce.operand + 1, indices, "");
  text.line("partial += v{};", reduce.operand);
  if (!is_even) {
    text.close();
  }
  text.close();
  text.close();
  text.line(
      "const float sum = team_sum<Team, {}>(reinterpret_cast<float*>(shared), partial);", per_tile
  );
  text.open("if (finishes)");
  indices = emit_indices(text, kept, "output", "o", "index_t");
  emit_nodes(
      text,
      task,
      buffers,
      reduce.operand + 1,
      static_cast<int>(task.nodes.size()),
      indices,
      "sum",
      loaded
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
