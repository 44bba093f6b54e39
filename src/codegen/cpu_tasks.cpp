#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/expression.hpp"
#include "codegen/task_text.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// Opens `for (index = begin; index < end; ++index)` with a promise that iterations are
/// independent.
void open_loop(
    TextWriter& text, const std::string& index, const std::string& begin, const std::string& end
) {
  text.raw_line("#pragma GCC ivdep");
  text.open("for (i64 {0} = {1}; {0} < {2}; ++{0})", index, begin, end);
}

void emit_map(TextWriter& text, const Task& task, const EmitContext& context) {
  const auto& buffers = context.schedule.buffers;
  const auto num_nodes = static_cast<int>(task.nodes.size());
  const bool rows = task.domain.size() > 1;
  const std::int64_t elements = num_elements(task.domain);
  const std::int64_t row = rows ? task.domain.back() : 1;
  text.line("const i64 begin = tile * {};", task.tile_elements / std::max<std::int64_t>(row, 1));
  text.line(
      "const i64 end = least(begin + {}, {});",
      task.tile_elements / std::max<std::int64_t>(row, 1),
      row == 0 ? 0 : elements / row
  );
  std::vector<std::string> indices;
  if (rows) {
    text.open("for (i64 row = begin; row < end; ++row)");
    const std::vector<std::int64_t> outer(task.domain.begin(), task.domain.end() - 1);
    indices = emit_indices(text, outer, "row", "i", "i64");
    indices.push_back("i");
    open_loop(text, "i", "0", fmt::format("{}", row));
  } else {
    indices.assign(task.domain.size(), "i");
    open_loop(text, "i", "begin", "end");
  }
  emit_nodes(text, task, buffers, 0, num_nodes, indices, "");
  emit_stores(text, task, buffers, indices);
  text.close();
  if (rows) {
    text.close();
  }
}

/// Sums with the contiguous index inside: sixteen running sums, so that the order does not depend
/// on the machine's vectors.
void emit_inner_sum(TextWriter& text, const Task& task, const EmitContext& context, Index outer) {
  const auto& buffers = context.schedule.buffers;
  const ReduceTask& reduce = *task.reduce;
  const std::vector<std::int64_t> kept(
      task.domain.begin(), task.domain.begin() + static_cast<long>(outer)
  );
  const std::vector<std::int64_t> summed(
      task.domain.begin() + static_cast<long>(outer), task.domain.end()
  );
  const std::int64_t terms = num_elements(summed);
  const std::int64_t inner = summed.empty() ? 1 : summed.back();
  text.line("const i64 split = tile % {};", reduce.splits);
  text.line("const i64 output = tile / {};", reduce.splits);
  std::vector<std::string> indices = emit_indices(text, kept, "output", "o", "i64");
  const std::vector<std::string> kept_indices = indices;
  // With one summed dimension the split cuts it; with more it cuts the rows of the last one.
  const std::int64_t rows = inner == 0 ? 0 : terms / inner;
  const bool cut_inner = summed.size() <= 1;
  text.line("float lanes[16] = {{}};");
  text.line("float sum = 0.0f;");
  if (!cut_inner) {
    text.line("const i64 first_row = split * {} / {};", rows, reduce.splits);
    text.line("const i64 end_row = (split + 1) * {} / {};", rows, reduce.splits);
    text.open("for (i64 row = first_row; row < end_row; ++row)");
    const std::vector<std::int64_t> outer_summed(summed.begin(), summed.end() - 1);
    for (const std::string& name : emit_indices(text, outer_summed, "row", "r", "i64")) {
      indices.push_back(name);
    }
    text.line("const i64 begin = 0;");
    text.line("const i64 end = {};", inner);
  } else {
    text.line("const i64 begin = split * {} / {};", inner, reduce.splits);
    text.line("const i64 end = (split + 1) * {} / {};", inner, reduce.splits);
  }
  text.line("const i64 whole = begin + (end - begin) / 16 * 16;");
  std::vector<std::string> vector_indices = indices;
  if (!summed.empty()) {
    vector_indices.push_back("(i + lane)");
    indices.push_back("i");
  }
  text.open("for (i64 i = begin; i < whole; i += 16)");
  open_loop(text, "lane", "0", "16");
  emit_nodes(text, task, buffers, 0, reduce.operand + 1, vector_indices, "");
  text.line("lanes[lane] += v{};", reduce.operand);
  text.close();
  text.close();
  text.open("for (i64 i = whole; i < end; ++i)");
  emit_nodes(text, task, buffers, 0, reduce.operand + 1, indices, "");
  text.line("sum += v{};", reduce.operand);
  text.close();
  if (!cut_inner) {
    text.close();
  }
  text.line("for (int lane = 0; lane < 16; ++lane) sum += lanes[lane];");
  std::vector<std::string> store_indices = kept_indices;
  store_indices.push_back("split");
  emit_nodes(
      text,
      task,
      buffers,
      reduce.operand + 1,
      static_cast<int>(task.nodes.size()),
      kept_indices,
      "sum"
  );
  emit_stores(text, task, buffers, store_indices);
}

/// Sums with the contiguous index outside: a running sum for each of a tile's outputs.
void emit_outer_sum(TextWriter& text, const Task& task, const EmitContext& context, Index outer) {
  const auto& buffers = context.schedule.buffers;
  const ReduceTask& reduce = *task.reduce;
  const std::vector<std::int64_t> kept(
      task.domain.begin(), task.domain.begin() + static_cast<long>(outer)
  );
  const std::vector<std::int64_t> summed(
      task.domain.begin() + static_cast<long>(outer), task.domain.end()
  );
  const std::int64_t outputs = num_elements(kept);
  const std::int64_t terms = num_elements(summed);
  text.line("const i64 split = tile % {};", reduce.splits);
  text.line("const i64 first = tile / {} * {};", reduce.splits, reduce.outputs_per_tile);
  text.line("const i64 count = least({}, {} - first);", reduce.outputs_per_tile, outputs);
  text.line("float sums[{}] = {{}};", reduce.outputs_per_tile);
  text.open(
      "for (i64 term = split * {0} / {1}; term < (split + 1) * {0} / {1}; ++term)",
      terms,
      reduce.splits
  );
  const std::vector<std::string> summed_indices = emit_indices(text, summed, "term", "r", "i64");
  open_loop(text, "i", "0", "count");
  std::vector<std::string> indices = emit_indices(text, kept, "(first + i)", "o", "i64");
  indices.insert(indices.end(), summed_indices.begin(), summed_indices.end());
  emit_nodes(text, task, buffers, 0, reduce.operand + 1, indices, "");
  text.line("sums[i] += v{};", reduce.operand);
  text.close();
  text.close();
  open_loop(text, "i", "0", "count");
  std::vector<std::string> kept_indices = emit_indices(text, kept, "(first + i)", "o", "i64");
  emit_nodes(
      text,
      task,
      buffers,
      reduce.operand + 1,
      static_cast<int>(task.nodes.size()),
      kept_indices,
      "sums[i]"
  );
  kept_indices.push_back("split");
  emit_stores(text, task, buffers, kept_indices);
  text.close();
}

void emit_reduce(TextWriter& text, const Task& task, const EmitContext& context) {
  const Index outer = task.domain.size() - Index(task.reduce->num_reduced_dims);
  if (task.reduce->outputs_per_tile > 1) {
    emit_outer_sum(text, task, context, outer);
  } else {
    emit_inner_sum(text, task, context, outer);
  }
}

/// "Operand<float, bf16>{&b.t0[m0 * 256 + 0], 256, 1}": an operand from the tile's first row on.
std::string operand_text(
    const GemmTask& gemm, const GemmOperand& operand, const Buffer& buffer, const char* first_row
) {
  return fmt::format(
      "Operand<{}, {}>{{&b.{}[{}], {}, {}}}",
      element_type(operand.stored),
      element_type(gemm.dtype),
      buffer.symbol,
      element_index(operand.access, {first_row, "0"}),
      operand.access.strides[0],
      operand.access.strides[1]
  );
}

void emit_gemm(TextWriter& text, const Task& task, const EmitContext& context) {
  const auto& buffers = context.schedule.buffers;
  const GemmTask& gemm = *task.gemm;
  const GemmTiling& tiling = gemm.tiling;
  const std::int64_t m = task.domain[0];
  const std::int64_t n = task.domain[1];
  const std::int64_t tiles_n = (n + tiling.tile_n - 1) / tiling.tile_n;
  const Buffer& a = buffers[Index(gemm.a.access.buffer)];
  const Buffer& b = buffers[Index(gemm.b.access.buffer)];
  text.line("const i64 m0 = tile / {} * {};", tiles_n, tiling.tile_m);
  text.line("const i64 n0 = tile % {} * {};", tiles_n, tiling.tile_n);
  text.line("const i64 rows = least({}, {} - m0);", tiling.tile_m, m);
  text.line("const i64 columns = least({}, {} - n0);", tiling.tile_n, n);
  text.line("float* const acc = scratch;");
  text.line("const auto left = {};", operand_text(gemm, gemm.a, a, "m0"));
  text.line("const auto right = {};", operand_text(gemm, gemm.b, b, "n0"));
  text.line(
      "multiply<{}>(acc, {}, left, right, rows, columns, {}, acc + {});",
      int_knob(context.schedule.configuration, task.name, "unroll"),
      tiling.tile_n,
      gemm.k,
      tiling.tile_m * tiling.tile_n
  );
  text.open("for (i64 row = 0; row < rows; ++row)");
  text.line("const i64 m = m0 + row;");
  open_loop(text, "column", "0", "columns");
  text.line("const i64 n = n0 + column;");
  emit_nodes(
      text,
      task,
      buffers,
      0,
      static_cast<int>(task.nodes.size()),
      {"m", "n"},
      fmt::format("acc[row * {} + column]", tiling.tile_n)
  );
  emit_stores(text, task, buffers, {"m", "n"});
  text.close();
  text.close();
}

}  // namespace

std::string task_comment(const Task& task) {
  std::string comment = fmt::format("// {}: [{}]", task.name, fmt::join(task.domain, ", "));
  if (task.gemm) {
    comment += fmt::format(" = sum over {}", task.gemm->k);
  } else if (task.reduce) {
    comment += fmt::format(
        ", the last {} dims summed{}",
        task.reduce->num_reduced_dims,
        task.reduce->splits > 1 ? fmt::format(" in {} parts", task.reduce->splits) : ""
    );
  }
  return comment + fmt::format("; {} tile{}", task.num_tiles, task.num_tiles == 1 ? "" : "s");
}

void emit_cpu_task(TextWriter& text, const Task& task, const EmitContext& context) {
  text.line("{}", task_comment(task));
  text.open(
      "static void {}_tile(const Buffers& buffers, [[maybe_unused]] float* scratch, i64 tile)",
      identifier(task.name)
  );
  // Copies of the pointers: for all that the compiler knows, a store might change those in memory,
  // and loops would gather through them.
  text.line("const Buffers b = buffers;");
  switch (task.kind) {
    case Task::Kind::Gemm:
      emit_gemm(text, task, context);
      break;
    case Task::Kind::Map:
      emit_map(text, task, context);
      break;
    case Task::Kind::Reduce:
      emit_reduce(text, task, context);
      break;
  }
  text.close();
  text.blank();
}

}  // namespace whet
