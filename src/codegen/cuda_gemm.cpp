#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "codegen/expression.hpp"
#include "codegen/task_text.hpp"
#include "schedule/operand_path.hpp"
#include "schedule/state_places.hpp"
#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

void emit_operand(
    TextWriter& text,
    const char* name,
    const Task& task,
    Side side,
    std::int64_t tile,
    const EmitContext& context
) {
  const GemmTask& gemm = *task.gemm;
  const GemmOperand& operand = operand_of(gemm, side);
  const OperandPath path = operand_path(context.schedule, task, side);
  const Buffer& buffer = context.schedule.buffers[Index(operand.access.buffer)];
  const std::string element =
      fmt::format("b.{}[{}]", buffer.symbol, element_index(operand.access, {"row", "k"}));
  const char* const parameters = "(const Buffers& b, int row, int k)";
  text.open("struct {}", name);
  text.line("static constexpr int kRows = {}, kTile = {};", operand_rows(task, side), tile);
  if (gemm.tiling.direct) {
    text.line("static constexpr bool kEarly = {};", operand.is_early);
  }
  text.open("WHET_MEMBER static float at{}", parameters);
  text.line("return to_f32({});", element);
  text.close();
  text.line("static constexpr int kRun = {};", path.rows);
  text.line("static constexpr bool kTurned = {};", path.is_turned);
  bool has_address = false;
  if (gemm.tiling.direct) {
    has_address = path.along_k > 1 || path.rows > 1;
    text.line("static constexpr bool kQuad = {};", path.along_k >= 4);
    text.line("static constexpr bool kOctet = {};", path.along_k >= 8);
    text.line("using Stored = {};", has_address ? element_type(operand.stored) : "Element");
  } else {
    text.line("using Stored = Element;");
    has_address = path.is_async;
    text.line("static constexpr bool kAlongK = {};", operand.access.strides[1] == 1);
    text.line("static constexpr bool kAsync = {};", has_address);
  }
  if (has_address) {
    text.open("WHET_MEMBER static const void* address{}", parameters);
    text.line("return &{};", element);
    text.close();
  }
  text.close(";");
}

/// Whether all elements of a tile read the same one.
bool is_uniform(const Access& access) {
  return !access.guard &&
         std::all_of(access.strides.begin(), access.strides.end(), [](std::int64_t stride) {
           return stride == 0;
         });
}

/// Writes the W neighbours of array `run` by one access.
void emit_run_store(
    TextWriter& text, const EmitContext& context, const Access& access, const std::string& run
) {
  const Buffer& buffer = context.schedule.buffers[Index(access.buffer)];
  text.line("store_run(&b.{}[{}], {});", buffer.symbol, element_index(access, {"m", "n"}), run);
}

/// The same one by one, element j of them `value`.
void emit_element_stores(
    TextWriter& text, const EmitContext& context, const Access& access, const std::string& value
) {
  const Buffer& buffer = context.schedule.buffers[Index(access.buffer)];
  text.line(
      "for (int j = 0; j < W; ++j) b.{}[{}] = from_f32<{}>({});",
      buffer.symbol,
      element_index(access, {"m", "(n + j)"}),
      element_type(buffer.dtype),
      value
  );
}

/// What the epilogue reads and does, for runs of W elements along n.
void emit_epilogue(TextWriter& text, const Task& task, const EmitContext& context) {
  const auto& buffers = context.schedule.buffers;
  const int width = epilogue_path(context.schedule, task).width;
  const auto is_wide = [&](const Access& access) {
    return width > 1 && is_run(context.schedule, access, 1, width);
  };
  const std::vector<int> held = held_buffers(context.schedule, task);
  // Where a thread has what it holds of a run, or empty.
  const auto held_words = [&](int buffer) -> std::string {
    const auto place = std::find(held.begin(), held.end(), buffer) - held.begin();
    return place == std::ssize(held) ? "" : fmt::format("state[{} * W + j]", place);
  };
  std::vector<int> loads;
  std::vector<int> uniform_loads;
  std::map<int, std::string> loaded;
  for (Index i = 0; i < task.nodes.size(); ++i) {
    const ExprNode& node = task.nodes[i];
    const auto n = static_cast<int>(i);
    if (node.kind != ExprNode::Kind::Load) {
      continue;
    }
    if (const std::string words = held_words(node.access.buffer); !words.empty()) {
      loaded[n] = words;
    } else if (is_uniform(node.access)) {
      uniform_loads.push_back(n);
      loaded[n] = fmt::format("uniform.v{}", n);
    } else {
      loads.push_back(n);
      loaded[n] = fmt::format("loaded.v{}[j]", n);
    }
  }
  text.open("struct Uniform");
  for (const int n : uniform_loads) {
    text.line("float v{};", n);
  }
  text.close(";");
  text.open("WHET_MEMBER static Uniform uniform([[maybe_unused]] const Buffers& b)");
  std::vector<std::string> values;
  for (const int n : uniform_loads) {
    values.push_back(load_expression(task.nodes[Index(n)], buffers, {"0", "0"}));
  }
  text.line("return Uniform{{{}}};", fmt::join(values, ", "));
  text.close();
  text.line("static constexpr int kWidth = {}, kLoads = {};", width, loads.size());
  text.raw_line("template <int W>");
  text.open("struct Loaded");
  for (const int n : loads) {
    const Access& access = task.nodes[Index(n)].access;
    if (is_wide(access)) {
      text.line("Run<{}, W> v{};", element_type(buffers[Index(access.buffer)].dtype), n);
    } else {
      text.line("float v{}[W];", n);
    }
  }
  text.close(";");
  const bool has_loads = !loads.empty();
  text.raw_line("template <int W>");
  text.open(
      "WHET_MEMBER static void load(const Buffers&{}, int{}, int{}, Loaded<W>&{})",
      has_loads ? " b" : "",
      has_loads ? " m" : "",
      has_loads ? " n" : "",
      has_loads ? " loaded" : ""
  );
  for (const int n : loads) {
    const ExprNode& node = task.nodes[Index(n)];
    if (is_wide(node.access)) {
      const std::string index = element_index(node.access, {"m", "n"});
      text.line("loaded.v{}.load(&b.{}[{}]);", n, buffers[Index(node.access.buffer)].symbol, index);
    } else {
      text.line(
          "for (int j = 0; j < W; ++j) loaded.v{}[j] = {};",
          n,
          load_expression(node, buffers, {"m", "(n + j)"})
      );
    }
  }
  text.close();
  text.raw_line("template <int W>");
  text.raw_line(
      "WHET_MEMBER static void finish(const Buffers& b, int m, int n, const float (&acc)[W],"
  );
  text.raw_line(
      "    [[maybe_unused]] const Loaded<W>& loaded, [[maybe_unused]] const Uniform& uniform,"
  );
  text.open("    [[maybe_unused]] float* state)");
  std::vector<int> stored;
  for (const Store& store : task.stores) {
    if (std::find(stored.begin(), stored.end(), store.node) == stored.end()) {
      stored.push_back(store.node);
      text.line("float r{}[W];", store.node);
    }
  }
  text.raw_line("#pragma unroll");
  text.open("for (int j = 0; j < W; ++j)");
  emit_nodes(
      text,
      task,
      buffers,
      0,
      static_cast<int>(task.nodes.size()),
      {"m", "(n + j)"},
      "acc[j]",
      loaded
  );
  for (const int node : stored) {
    text.line("r{0}[j] = v{0};", node);
  }
  text.close();
  for (const Store& store : task.stores) {
    const std::string run = fmt::format("r{}", store.node);
    if (const std::string words = held_words(store.access.buffer); !words.empty()) {
      text.line("for (int j = 0; j < W; ++j) {} = {}[j];", words, run);
    } else if (is_wide(store.access)) {
      emit_run_store(text, context, store.access, run);
    } else {
      emit_element_stores(text, context, store.access, run + "[j]");
    }
  }
  text.close();
}

/// The store of a task to a buffer.
const Access& store_to(const Task& task, int buffer) {
  const auto found = std::find_if(task.stores.begin(), task.stores.end(), [&](const Store& store) {
    return store.access.buffer == buffer;
  });
  WHET_CHECK(found != task.stores.end(), "{} writes buffer {}", task.name, buffer);
  return found->access;
}

/// Writes a run of what a thread holds, word `place` of each element, to memory.
void emit_held_store(
    TextWriter& text, const EmitContext& context, const Access& access, Index place, int width
) {
  if (width > 1 && is_run(context.schedule, access, 1, width)) {
    const std::string run = fmt::format("r{}", access.buffer);
    text.line("float {}[W];", run);
    text.line("for (int j = 0; j < W; ++j) {}[j] = state[{} * W + j];", run, place);
    emit_run_store(text, context, access, run);
  } else {
    emit_element_stores(text, context, access, fmt::format("state[{} * W + j]", place));
  }
}

/// How what a task holds comes to registers and goes back, a run of W elements at a time.
void emit_held_members(TextWriter& text, const Task& task, const EmitContext& context) {
  const Schedule& schedule = context.schedule;
  const std::vector<int> held = held_buffers(schedule, task);
  text.line("static constexpr int kHeld = {};", held.size());
  if (held.empty()) {
    return;
  }
  text.line("static constexpr int kHeldWords = {};", held_words_of_tile(schedule, task));
  const int width = epilogue_path(schedule, task).width;
  const auto open = [&](const char* name, const char* type) {
    text.raw_line("template <int W>");
    text.open("WHET_MEMBER static void {}(const Buffers& b, int m, int n, {} state)", name, type);
  };
  open("load_state", "float*");
  for (Index place = 0; place < held.size(); ++place) {
    const Access& access = store_to(task, held[place]);
    const std::string& symbol = schedule.buffers[Index(held[place])].symbol;
    if (width > 1 && is_run(schedule, access, 1, width)) {
      text.line("Run<float, W> v{};", place);
      text.line("v{}.load(&b.{}[{}]);", place, symbol, element_index(access, {"m", "n"}));
      text.line("for (int j = 0; j < W; ++j) state[{0} * W + j] = v{0}[j];", place);
    } else {
      text.line(
          "for (int j = 0; j < W; ++j) state[{} * W + j] = b.{}[{}];",
          place,
          symbol,
          element_index(access, {"m", "(n + j)"})
      );
    }
  }
  text.close();
  open("save_state", "const float*");
  for (Index place = 0; place < held.size(); ++place) {
    emit_held_store(text, context, store_to(task, held[place]), place, width);
  }
  text.close();
  open("copy_state", "const float*");
  for (Index place = 0; place < held.size(); ++place) {
    for (const Shadow& shadow : schedule.shadows) {
      if (shadow.state_buffer == held[place]) {
        emit_held_store(text, context, store_to(task, shadow.buffer), place, width);
      }
    }
  }
  text.close();
}

/// Whether all that the epilogue reads may be read before the edge in front of its phase.
bool has_early_epilogue(const Task& task) {
  bool is_early = false;
  for (const ExprNode& node : task.nodes) {
    if (node.kind == ExprNode::Kind::Load && !node.is_early) {
      return false;
    }
    is_early |= node.is_early;
  }
  return is_early;
}

/// Registers for what its epilogue reads ahead of the product: what the product leaves.
std::int64_t epilogue_words(const Schedule& schedule, std::int64_t accumulators) {
  constexpr std::int64_t kAddresses = 40;
  const std::int64_t used =
      operand_words(schedule) + kAddresses + accumulators + schedule.state_words;
  return std::clamp<std::int64_t>(registers_of_thread(schedule) - used, 32, 64);
}

}  // namespace

std::string product_types(const Task& task) {
  const char* const engine = task.gemm->tiling.engine == Engine::Mma ? "Mma" : "Simt";
  return fmt::format("{0}, {1}Accumulator<{0}>", type_name(task.name), engine);
}

void emit_cuda_gemm(TextWriter& text, const Task& task, const EmitContext& context) {
  const GemmTask& gemm = *task.gemm;
  const GemmTiling& t = gemm.tiling;
  const bool mma = t.engine == Engine::Mma;
  const std::string type = type_name(task.name);
  text.open("struct {}", type);
  text.line("using Element = {};", element_type(gemm.dtype));
  text.line("using Team = {};", team_type(task));
  text.line(
      "static constexpr int kM = {}, kN = {}, kK = {};", task.domain[0], task.domain[1], gemm.k
  );
  text.line(
      "static constexpr int kTileM = {}, kTileN = {}, kSplitK = {};", t.tile_m, t.tile_n, t.split_k
  );
  if (!t.direct) {
    text.line(
        "static constexpr int kTileK = {}, kStages = {}, kSkew = {};", t.tile_k, t.stages, t.skew
    );
  }
  const std::optional<WarpGrid> grid = share_tile(t, num_threads(task));
  WHET_CHECK(grid.has_value(), "{}: the tile has a share for each thread", task.name);
  if (t.direct) {
    text.line("static constexpr int kOperandWords = {};", operand_words(context.schedule));
  }
  text.line(
      "static constexpr int kEpilogueWords = {};",
      epilogue_words(context.schedule, *accumulators(t, num_threads(task)))
  );
  const std::string share = mma ? "Warps" : "Thread";
  text.line("static constexpr int k{0}M = {1}, k{0}N = {2};", share, grid->m, grid->n);
  if (!mma) {
    text.line("static constexpr int kLanesK = {};", t.k_lanes);
  }
  emit_operand(text, "A", task, Side::A, t.tile_m, context);
  emit_operand(text, "B", task, Side::B, t.tile_n, context);
  if (t.direct) {
    text.line("static constexpr bool kEarly = {};", has_early_epilogue(task));
  }
  emit_epilogue(text, task, context);
  emit_held_members(text, task, context);
  text.close(";");
  if (t.direct) {
    text.raw_line("template <class Edge>");
  }
  text.open(
      "WHET_DEVICE void {}_tile(const Buffers& b, char* shared, int tile{})",
      identifier(task.name),
      t.direct ? ", Edge&& edge, float* state" : ""
  );
  text.line(
      "{}_tile<{}>(b, shared, tile{});",
      t.direct ? "direct" : "staged",
      product_types(task),
      t.direct ? ", edge, state" : ""
  );
  text.close();
}

}  // namespace whet
