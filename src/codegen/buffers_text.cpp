#include "codegen/buffers_text.hpp"

#include <algorithm>
#include <string>

#include "codegen/expression.hpp"
#include "schedule/reads.hpp"

namespace whet {
namespace {

using Index = std::size_t;

bool is_written(const Schedule& schedule, int buffer) {
  return std::any_of(schedule.phases.begin(), schedule.phases.end(), [&](const Phase& phase) {
    return writes(phase, buffer);
  });
}

/// Where a buffer of a step lies in the block's shared memory.
std::string shared_place(const Buffer& buffer) {
  const std::string slot =
      buffer.slot_bytes == 0 ? "" : fmt::format(" + (step & 1) * {}", buffer.slot_bytes);
  return fmt::format("shared_memory() + {}{}", buffer.offset_bytes, slot);
}

void emit_shared_buffer(TextWriter& text, const Buffer& buffer, const std::string& type) {
  text.line("b.{} = reinterpret_cast<{}>({});", buffer.symbol, type, shared_place(buffer));
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
      if (buffer.is_resident) {
        emit_shared_buffer(text, buffer, type);
        return;
      }
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
      emit_shared_buffer(text, buffer, type);
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
  text.line("/// `batch` is the step's place in the ring of inputs.");
  text.open(
      "WHET_DEVICE Buffers buffers_of_step(const StepArguments& args, [[maybe_unused]] int step, "
      "[[maybe_unused]] i64 batch)"
  );
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

void emit_prefetch(TextWriter& text, const Schedule& schedule) {
  if (schedule.prefetched.empty()) {
    return;
  }
  text.line("/// Asks for the inputs of a step, those that are stable or the others.");
  text.open(
      "WHET_DEVICE void prefetch(const StepArguments& args, [[maybe_unused]] int step, i64 batch, "
      "bool stable)"
  );
  for (const PrefetchedInput& input : schedule.prefetched) {
    const Buffer& from = schedule.buffers[Index(input.input_buffer)];
    text.open("if ({}stable)", input.is_stable ? "" : "!");
    text.line(
        "copy_rows<kThreads, {}, {}, {}>({}, static_cast<const char*>(args.tensors[{}]) + batch * "
        "{});",
        input.num_rows,
        input.row_bytes,
        input.pitch_bytes,
        shared_place(schedule.buffers[Index(input.buffer)]),
        from.argument,
        from.step_stride_elements * dtype_bytes(from.dtype)
    );
    text.close();
  }
  text.close();
  text.blank();
}

void emit_residents(TextWriter& text, const Schedule& schedule, bool to_shared) {
  for (Index i = 0; i < schedule.buffers.size(); ++i) {
    const Buffer& buffer = schedule.buffers[i];
    if (!buffer.is_resident || (!to_shared && !is_written(schedule, static_cast<int>(i)))) {
      continue;
    }
    const std::string shared = fmt::format("shared_memory() + {}", buffer.offset_bytes);
    const std::string global = fmt::format("args.tensors[{}]", buffer.argument);
    text.line(
        "copy_bytes<kThreads, {}>({}, {});",
        buffer.num_elements * dtype_bytes(buffer.dtype),
        to_shared ? shared : global,
        to_shared ? global : shared
    );
  }
}

}  // namespace whet
