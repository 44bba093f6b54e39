#include "harness/messages.hpp"

#include "harness/message_codec.hpp"

namespace whet {
namespace {

// fields(io, x) names each field of x once, for writing and for reading. `X` is const when written.

template <typename Io, Is<WorkloadSource> X>
void fields(Io& io, X& x) {
  io("text", x.text);
  io("name", x.name);
  io("dims", x.dims);
}

template <typename Io, Is<DeviceLimits> X>
void fields(Io& io, X& x) {
  io("name", x.name);
  io("target", x.target);
  io("arch", x.arch);
  io("feature_level", x.feature_level);
  io("num_sms", x.num_sms);
  io("max_threads_per_block", x.max_threads_per_block);
  io("max_threads_per_sm", x.max_threads_per_sm);
  io("max_registers_per_sm", x.max_registers_per_sm);
  io("max_shared_bytes_per_block", x.max_shared_bytes_per_block);
  io("max_shared_bytes_per_sm", x.max_shared_bytes_per_sm);
  io("is_restricted", x.is_restricted);
  io("memory_bytes", x.memory_bytes);
  io("vector_bytes", x.vector_bytes);
}

template <typename Io, Is<CompileOptions> X>
void fields(Io& io, X& x) {
  io("cache_folder", x.cache_folder);
  io("host_compiler", x.host_compiler);
  io("nvrtc_library", x.nvrtc_library);
  io("timeout_ms", x.timeout);
  io("native", x.native);
  io("emulation_checks", x.emulation_checks);
}

template <typename Io, Is<Resources> X>
void fields(Io& io, X& x) {
  io("registers", x.registers);
  io("spill_store_bytes", x.spill_store_bytes);
  io("spill_load_bytes", x.spill_load_bytes);
  io("static_shared_bytes", x.static_shared_bytes);
  io("dynamic_shared_bytes", x.dynamic_shared_bytes);
  io("code_bytes", x.code_bytes);
}

template <typename Io, Is<TaskPath> X>
void fields(Io& io, X& x) {
  io("task", x.task);
  io("ops", x.ops);
  io("engine", x.engine);
  io("path", x.path);
  io("slower", x.slower);
}

template <typename Io, Is<SteadyRule> X>
void fields(Io& io, X& x) {
  io("window", x.window);
  io("time_tolerance", x.time_tolerance);
  io("clock_tolerance", x.clock_tolerance);
  io("min_total_ns", x.min_total_ns);
  io("max_total_ns", x.max_total_ns);
}

template <typename Io, Is<BlockPlan> X>
void fields(Io& io, X& x) {
  io("num_samples", x.num_samples);
  io("min_sample_ns", x.min_sample_ns);
  io("max_block_ns", x.max_block_ns);
  io("steady", x.steady);
}

template <typename Io, Is<Sample> X>
void fields(Io& io, X& x) {
  io("time_ns", x.time_ns);
  io("clock_mhz", x.clock_mhz);
  io("temperature_c", x.temperature_c);
  io("throttled", x.throttled);
}

template <typename Io, Is<TensorError> X>
void fields(Io& io, X& x) {
  io("tensor", x.tensor);
  io("when", x.when);
  io("error", x.error);
  io("limit", x.limit);
  io("seed", x.seed);
}

template <typename Io, Is<MeasuredBlock> X>
void fields(Io& io, X& x) {
  io("id", x.id);
  io("num_steps", x.num_steps);
  io("num_dropped", x.num_dropped);
  io("steady", x.steady);
  io("samples", x.samples);
}

template <typename Io, Is<Outcome> X>
void fields(Io& io, X& x) {
  io("status", x.status);
  io("detail", x.detail);
  io("must_restart", x.must_restart);
}

template <typename Io, Is<CompileRequest> X>
void fields(Io& io, X& x) {
  io("workload", x.workload);
  io("limits", x.limits);
  io("configuration", x.configuration);
  io("options", x.options);
  io("profile", x.profile);
}

template <typename Io, Is<CompileResponse> X>
void fields(Io& io, X& x) {
  io("status", x.status);
  io("detail", x.detail);
  io("artifact", x.artifact);
  io("plan", x.plan);
  io("source_sha256", x.source_sha256);
  io("resources", x.resources);
  io("paths", x.paths);
  io("compile_s", x.compile_s);
  io("cache_hit", x.cache_hit);
}

template <typename Io, Is<OpenRequest> X>
void fields(Io& io, X& x) {
  io("target", x.target);
  io("device", x.device);
  io("num_threads", x.num_threads);
  io("workload", x.workload);
  io("tolerances", x.tolerances);
}

template <typename Io, Is<DescribeRequest> X>
void fields(Io&, X&) {}

template <typename Io, Is<DescribeResponse> X>
void fields(Io& io, X& x) {
  io("device", x.device);
  io("loaded", x.loaded);
}

template <typename Io, Is<LoadRequest> X>
void fields(Io& io, X& x) {
  io("id", x.id);
  io("artifact", x.artifact);
  io("plan", x.plan);
}

template <typename Io, Is<UnloadRequest> X>
void fields(Io& io, X& x) {
  io("id", x.id);
}

template <typename Io, Is<ValidateRequest> X>
void fields(Io& io, X& x) {
  io("id", x.id);
  io("bundles", x.bundles);
}

template <typename Io, Is<ValidateResponse> X>
void fields(Io& io, X& x) {
  io("outcome", x.outcome);
  io("deterministic", x.deterministic);
  io("worst", x.worst);
}

template <typename Io, Is<MeasureRequest> X>
void fields(Io& io, X& x) {
  io("order", x.order);
  io("bundle", x.bundle);
  io("num_steps", x.num_steps);
  io("plan", x.plan);
}

template <typename Io, Is<MeasureResponse> X>
void fields(Io& io, X& x) {
  io("outcome", x.outcome);
  io("fault_id", x.fault_id);
  io("blocks", x.blocks);
}

template <typename Io, Is<TimelineRequest> X>
void fields(Io& io, X& x) {
  io("id", x.id);
  io("bundle", x.bundle);
  io("num_steps", x.num_steps);
  io("num_launches", x.num_launches);
}

template <typename Io, Is<TimelinePhase> X>
void fields(Io& io, X& x) {
  io("tasks", x.tasks);
  io("edge", x.edge);
  io("has_teams", x.has_teams);
}

template <typename Io, Is<BlockPhase> X>
void fields(Io& io, X& x) {
  io("begin_ns", x.begin_ns);
  io("wait_ns", x.wait_ns);
  io("ready_ns", x.ready_ns);
  io("end_ns", x.end_ns);
}

template <typename Io, Is<BlockTimeline> X>
void fields(Io& io, X& x) {
  io("processor", x.processor);
  io("enter_ns", x.enter_ns);
  io("phases", x.phases);
}

template <typename Io, Is<Timeline> X>
void fields(Io& io, X& x) {
  io("phases", x.phases);
  io("blocks", x.blocks);
  io("num_launches", x.num_launches);
  io("alignment", x.alignment);
  io("step_time_ns", x.step_time_ns);
  io("has_time", x.has_time);
}

template <typename Io, Is<TimelineResponse> X>
void fields(Io& io, X& x) {
  io("outcome", x.outcome);
  io("timeline", x.timeline);
}

template <typename Io, Is<ErrorResponse> X>
void fields(Io& io, X& x) {
  io("exit_code", x.exit_code);
  io("text", x.text);
}

}  // namespace

/// Structs with fields.
template <typename T>
requires requires(Writer& writer, const T& value) { fields(writer, value); }
struct Codec<T> {
  static Json put(const T& value) {
    Writer writer;
    fields(writer, value);
    return writer.json;
  }
  static T get(const Json& json) {
    T value;
    Reader reader{json};
    fields(reader, value);
    return value;
  }
};

void raise(const ErrorResponse& error) {
  switch (error.exit_code) {
    case 2:
      throw UserError(error.text);
    case 3:
      throw EnvironmentError(error.text);
    default:
      throw InternalError(error.text);
  }
}

template <typename T>
Message encode(const T& value) {
  return {.kind = std::string(T::kKind), .body = Codec<T>::put(value)};
}

template <typename T>
T decode(const Message& message) {
  if (message.kind != T::kKind) {
    throw EnvironmentError(
        fmt::format("expected a '{}' message, found '{}'", T::kKind, message.kind)
    );
  }
  try {
    return Codec<T>::get(message.body);
  } catch (const UserError& error) {
    throw EnvironmentError(fmt::format("message '{}': {}", message.kind, error.what()));
  }
}

template Message encode(const CompileRequest&);
template Message encode(const CompileResponse&);
template Message encode(const OpenRequest&);
template Message encode(const DescribeRequest&);
template Message encode(const DescribeResponse&);
template Message encode(const LoadRequest&);
template Message encode(const UnloadRequest&);
template Message encode(const Outcome&);
template Message encode(const ValidateRequest&);
template Message encode(const ValidateResponse&);
template Message encode(const MeasureRequest&);
template Message encode(const MeasureResponse&);
template Message encode(const TimelineRequest&);
template Message encode(const TimelineResponse&);
template Message encode(const ErrorResponse&);
template CompileRequest decode(const Message&);
template CompileResponse decode(const Message&);
template OpenRequest decode(const Message&);
template DescribeRequest decode(const Message&);
template DescribeResponse decode(const Message&);
template LoadRequest decode(const Message&);
template UnloadRequest decode(const Message&);
template Outcome decode(const Message&);
template ValidateRequest decode(const Message&);
template ValidateResponse decode(const Message&);
template MeasureRequest decode(const Message&);
template MeasureResponse decode(const Message&);
template TimelineRequest decode(const Message&);
template TimelineResponse decode(const Message&);
template ErrorResponse decode(const Message&);

}  // namespace whet
