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

/// Copies an operand's tile to f32 rows in scratch: rows of `row_length` elements, `pitch` apart,
/// the inner loop running along whichever index is contiguous in memory.
void emit_pack(
    TextWriter& text,
    const GemmOperand& operand,
    const Buffer& buffer,
    const std::string& to,
    const std::string& base_row,  // first row (m0 or n0)
    const std::string& rows,
    std::int64_t k,
    bool row_major_rows,  // to[row * pitch + k], else to[k * pitch + row]
    std::int64_t pitch
) {
  const bool row_contiguous = operand.access.strides[0] == 1;
  const std::string source = fmt::format(
      "to_f32(b.{}[{}])",
      buffer.symbol,
      element_index(operand.access, {fmt::format("({} + row)", base_row), "k"})
  );
  const std::string target = row_major_rows ? fmt::format("{}[row * {} + k]", to, pitch)
                                            : fmt::format("{}[k * {} + row]", to, pitch);
  if (row_contiguous) {
    text.open("for (i64 k = 0; k < {}; ++k)", k);
    open_loop(text, "row", "0", rows);
  } else {
    text.open("for (i64 row = 0; row < {}; ++row)", rows);
    open_loop(text, "k", "0", fmt::format("{}", k));
  }
  text.line("{} = {};", target, source);
  text.close();
  text.close();
}

/// A cast at the load rounds to the product's dtype.
std::string rounded_source_note(const GemmTask& gemm, const GemmOperand& operand) {
  return operand.stored == gemm.dtype ? "" : std::string(dtype_name(gemm.dtype));
}

void emit_round(TextWriter& text, const std::string& data, const std::string& count, DType dtype) {
  const char* round = dtype == DType::BF16 ? "round_bf16" : "round_f16";
  open_loop(text, "i", "0", count);
  text.line("{0}[i] = {1}({0}[i]);", data, round);
  text.close();
}

void emit_gemm(TextWriter& text, const Task& task, const EmitContext& context) {
  const auto& buffers = context.schedule.buffers;
  const GemmTask& gemm = *task.gemm;
  const GemmTiling& tiling = gemm.tiling;
  const std::int64_t m = task.domain[0];
  const std::int64_t n = task.domain[1];
  const std::int64_t tiles_n = (n + tiling.tile_n - 1) / tiling.tile_n;
  const std::int64_t lanes = context.limits.vector_bytes / 4;
  const Buffer& a = buffers[Index(gemm.a.access.buffer)];
  const Buffer& b = buffers[Index(gemm.b.access.buffer)];
  const auto direct = [&](const GemmOperand& operand) {
    return operand.stored == DType::F32 && gemm.dtype == DType::F32;
  };
  const bool direct_a = direct(gemm.a);
  const bool direct_b = direct(gemm.b) && gemm.b.access.strides[0] == 1 && n % lanes == 0 &&
                        tiling.tile_n % lanes == 0;
  text.line("const i64 m0 = tile / {} * {};", tiles_n, tiling.tile_m);
  text.line("const i64 n0 = tile % {} * {};", tiles_n, tiling.tile_n);
  text.line("const i64 rows = least({}, {} - m0);", tiling.tile_m, m);
  text.line("const i64 columns = least({}, {} - n0);", tiling.tile_n, n);
  text.line("float* const acc = scratch;");
  std::int64_t used = (tiling.tile_m * tiling.tile_n + 15) / 16 * 16;
  if (direct_a) {
    text.line(
        "const float* const a = &b.{}[{}];", a.symbol, element_index(gemm.a.access, {"m0", "0"})
    );
  } else {
    text.line("float* const a = scratch + {};", used);
    used += (tiling.tile_m * gemm.k + 15) / 16 * 16;
    emit_pack(text, gemm.a, a, "a", "m0", "rows", gemm.k, true, gemm.k);
    if (!rounded_source_note(gemm, gemm.a).empty()) {
      emit_round(text, "a", fmt::format("rows * {}", gemm.k), gemm.dtype);
    }
  }
  if (direct_b) {
    text.line(
        "const float* const w = &b.{}[{}];", b.symbol, element_index(gemm.b.access, {"n0", "0"})
    );
    text.line("const i64 padded = columns;");
  } else {
    text.line("float* const w = scratch + {};", used);
    text.line("const i64 padded = (columns + {0} - 1) / {0} * {0};", lanes);
    emit_pack(text, gemm.b, b, "w", "n0", "columns", gemm.k, false, tiling.tile_n);
    if (n % lanes != 0) {
      text.open("if (padded > columns)");
      text.open("for (i64 k = 0; k < {}; ++k)", gemm.k);
      text.line("for (i64 i = columns; i < padded; ++i) w[k * {} + i] = 0.0f;", tiling.tile_n);
      text.close();
      text.close();
    }
    if (!rounded_source_note(gemm, gemm.b).empty()) {
      text.open("for (i64 k = 0; k < {}; ++k)", gemm.k);
      emit_round(text, fmt::format("(w + k * {})", tiling.tile_n), "columns", gemm.dtype);
      text.close();
    }
  }
  const std::int64_t unroll = int_knob(context.schedule.configuration, task.name, "unroll");
  text.line(
      "multiply<{}>(acc, {}, a, {}, {}, w, {}, rows, padded, {});",
      unroll,
      tiling.tile_n,
      direct_a ? gemm.a.access.strides[0] : gemm.k,
      direct_a ? gemm.a.access.strides[1] : 1,
      direct_b ? gemm.b.access.strides[1] : tiling.tile_n,
      gemm.k
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
      "static void {}_tile(const Buffers& b, [[maybe_unused]] float* scratch, i64 tile)",
      identifier(task.name)
  );
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
