#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "codegen/expression.hpp"
#include "codegen/task_text.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// Whether 16-byte asynchronous copies may fetch an operand: the bytes lie as they are staged,
/// every chunk is whole and aligned, and they lie in global memory, where such copies read.
bool is_async(
    const GemmTask& gemm, const GemmOperand& operand, std::int64_t rows, const EmitContext& context
) {
  const Buffer& buffer = context.schedule.buffers[Index(operand.access.buffer)];
  const std::int64_t chunk = 16 / dtype_bytes(gemm.dtype);
  const bool along_k = operand.access.strides[1] == 1;
  const std::int64_t pitch = operand.access.strides[along_k ? 0 : 1];
  return operand.stored == gemm.dtype && buffer.storage != Storage::Shared &&
         (along_k || operand.access.strides[0] == 1) && pitch % chunk == 0 &&
         operand.access.offset % chunk == 0 && (along_k ? gemm.k : rows) % chunk == 0 &&
         context.alignment_bytes[Index(operand.access.buffer)] % 16 == 0;
}

void emit_operand(
    TextWriter& text,
    const char* name,
    const char* row,
    const GemmOperand& operand,
    bool async,
    const EmitContext& context
) {
  const Buffer& buffer = context.schedule.buffers[Index(operand.access.buffer)];
  const std::string index = element_index(operand.access, {row, "k"});
  text.open("WHET_MEMBER static float {}(const Buffers& b, int {}, int k)", name, row);
  text.line("return to_f32(b.{}[{}]);", buffer.symbol, index);
  text.close();
  if (async) {
    text.open(
        "WHET_MEMBER static const void* {}_address(const Buffers& b, int {}, int k)", name, row
    );
    text.line("return &b.{}[{}];", buffer.symbol, index);
    text.close();
  }
}

void emit_gemm(TextWriter& text, const Task& task, const EmitContext& context) {
  const GemmTask& gemm = *task.gemm;
  const GemmTiling& t = gemm.tiling;
  const bool mma = t.engine == Engine::Mma;
  const bool async_a = is_async(gemm, gemm.a, task.domain[0], context);
  const bool async_b = is_async(gemm, gemm.b, task.domain[1], context);
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  const std::string type = type_name(task.name);
  text.open("struct {}", type);
  text.line("using Element = {};", element_type(gemm.dtype));
  text.line(
      "static constexpr int kM = {}, kN = {}, kK = {};", task.domain[0], task.domain[1], gemm.k
  );
  text.line(
      "static constexpr int kTileM = {}, kTileN = {}, kTileK = {};", t.tile_m, t.tile_n, t.tile_k
  );
  text.line(
      "static constexpr int kStages = {}, kSplitK = {}, kSkew = {};", t.stages, t.split_k, t.skew
  );
  const std::optional<WarpGrid> grid =
      mma ? warp_grid(t, context.schedule.threads) : thread_tile(t, context.schedule.threads);
  WHET_CHECK(grid.has_value(), "{}: the tile has a share for each thread", task.name);
  const std::string share = mma ? "Warps" : "Thread";
  text.line("static constexpr int k{0}M = {1}, k{0}N = {2};", share, grid->m, grid->n);
  text.line(
      "static constexpr bool kAAlongK = {}, kBAlongK = {};",
      flag(gemm.a.access.strides[1] == 1),
      flag(gemm.b.access.strides[1] == 1)
  );
  text.line("static constexpr bool kAAsync = {}, kBAsync = {};", flag(async_a), flag(async_b));
  emit_operand(text, "a", "m", gemm.a, async_a, context);
  emit_operand(text, "b", "n", gemm.b, async_b, context);
  text.open("WHET_MEMBER static void epilogue(const Buffers& b, int m, int n, float acc)");
  emit_nodes(
      text,
      task,
      context.schedule.buffers,
      0,
      static_cast<int>(task.nodes.size()),
      {"m", "n"},
      "acc"
  );
  emit_stores(text, task, context.schedule.buffers, {"m", "n"});
  text.close();
  text.close(";");
  text.open(
      "WHET_DEVICE void {}_tile(const Buffers& b, char* shared, int tile)", identifier(task.name)
  );
  text.line("gemm_tile<{0}, {1}Accumulator<{0}>>(b, shared, tile);", type, mma ? "Mma" : "Simt");
  text.close();
}

void emit_map(TextWriter& text, const Task& task, const EmitContext& context) {
  text.open("WHET_DEVICE void {}_tile(const Buffers& b, char*, int tile)", identifier(task.name));
  text.line(
      "const index_t end = least<index_t>((tile + index_t{{1}}) * {}, {});",
      task.tile_elements,
      num_elements(task.domain)
  );
  text.open(
      "for (index_t i = index_t{{tile}} * {} + thread_index(); i < end; i += kThreads)",
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
  text.line("const index_t split = tile % {};", reduce.splits);
  text.line(
      "const index_t output = tile / {} * {} + thread_index() % {};",
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
      "for (index_t term = split * index_t{{{0}}} / {1} + thread_index() / {2}; term < end; term "
      "+= "
      "kThreads / {2})",
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
      "const float sum = block_sum<{}>(reinterpret_cast<float*>(shared), partial);", per_tile
  );
  text.open("if (has_output && thread_index() < {})", per_tile);
  indices = emit_indices(text, kept, "output", "o", "index_t");
  emit_nodes(
      text, task, buffers, reduce.operand + 1, static_cast<int>(task.nodes.size()), indices, "sum"
  );
  indices.push_back("split");
  emit_stores(text, task, buffers, indices);
  text.close();
  text.line("block_barrier();");
  text.close();
}

}  // namespace

void emit_cuda_task(TextWriter& text, const Task& task, const EmitContext& context) {
  text.line("{}", task_comment(task));
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
  text.blank();
}

}  // namespace whet
