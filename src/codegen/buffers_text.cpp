#include "codegen/buffers_text.hpp"

#include <algorithm>
#include <string>

#include "codegen/expression.hpp"

namespace whet {
namespace {

using Index = std::size_t;

bool is_written(const Schedule& schedule, int buffer) {
  for (const Phase& phase : schedule.phases) {
    for (const Task& task : phase.tasks) {
      for (const Store& store : task.stores) {
        if (store.access.buffer == buffer) {
          return true;
        }
      }
    }
  }
  return false;
}

void emit_buffer(
    TextWriter& text,
    const Program& program,
    const Schedule& schedule,
    const Buffer& buffer,
    bool written
) {
  const std::string type = (written ? "" : "const ") + element_type(buffer.dtype) + "*";
  switch (buffer.storage) {
    case Storage::Argument: {
      std::string offset;
      if (buffer.step_stride_elements != 0) {
        const bool input = Index(buffer.argument) < program.inputs.size();
        offset =
            fmt::format(" + {} * {}", input ? "batch" : "i64{step}", buffer.step_stride_elements);
      }
      text.line(
          "b.{} = static_cast<{}>(args.tensors[{}]){};",
          buffer.symbol,
          type,
          buffer.argument,
          offset
      );
      return;
    }
    case Storage::Workspace:
    case Storage::Persistent: {
      const std::int64_t first =
          buffer.storage == Storage::Workspace ? schedule.persistent_bytes : 0;
      text.line(
          "b.{} = reinterpret_cast<{}>(arena + {});",
          buffer.symbol,
          type,
          first + buffer.offset_bytes
      );
      return;
    }
    case Storage::Shared:
      text.line(
          "b.{} = reinterpret_cast<{}>(shared_memory() + {});",
          buffer.symbol,
          type,
          buffer.offset_bytes
      );
      return;
  }
}

}  // namespace

void emit_arguments(TextWriter& text, const LaunchPlan& plan) {
  text.open("struct StepArguments");
  text.line("void* tensors[{}];", std::max<Index>(plan.arguments.size(), 1));
  text.line("void* workspace;");
  text.line("u32 ring_length;");
  text.line("u32 first_batch;");
  text.line("u32 spin_limit;");
  text.line("u32 refresh;");
  text.close(";");
  text.blank();
}

void emit_buffers(TextWriter& text, const Program& program, const Schedule& schedule) {
  text.line("/// Where the tensors of one step lie.");
  text.open("struct Buffers");
  for (Index i = 0; i < schedule.buffers.size(); ++i) {
    const Buffer& buffer = schedule.buffers[i];
    text.line(
        "{}{}* {};",
        is_written(schedule, static_cast<int>(i)) ? "" : "const ",
        element_type(buffer.dtype),
        buffer.symbol
    );
  }
  text.close(";");
  text.blank();
  text.open("WHET_DEVICE Buffers buffers_of_step(const StepArguments& args, int step)");
  // The host sees to it that first_batch is in the ring, so this goes around seldom: the latency
  // of a division would stand before the first load of a step.
  text.line("u32 place_in_ring = args.first_batch + static_cast<u32>(step);");
  text.line("while (place_in_ring >= args.ring_length) place_in_ring -= args.ring_length;");
  text.line("[[maybe_unused]] const i64 batch = place_in_ring;");
  text.line(
      "[[maybe_unused]] char* const arena = static_cast<char*>(args.workspace) + {};",
      LaunchPlan::kControlBytes
  );
  text.line("Buffers b;");
  for (Index i = 0; i < schedule.buffers.size(); ++i) {
    emit_buffer(
        text, program, schedule, schedule.buffers[i], is_written(schedule, static_cast<int>(i))
    );
  }
  text.line("return b;");
  text.close();
  text.blank();
}

}  // namespace whet
