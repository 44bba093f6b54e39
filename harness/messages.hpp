#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/compile_options.hpp"
#include "artifact/launch_plan.hpp"
#include "base/error.hpp"
#include "evaluation/evaluation.hpp"
#include "evaluation/timeline.hpp"
#include "harness/protocol.hpp"
#include "ir/workload.hpp"
#include "schedule/configuration.hpp"
#include "schedule/device_limits.hpp"
#include "timing/block.hpp"

namespace whet {

/// A workload as a child program parses it: the file's text, what messages call the file, and the
/// dimensions that replace the file's.
struct WorkloadSource {
  std::string text;
  std::string name;
  DimOverrides dims;

  bool operator==(const WorkloadSource&) const = default;
};

// --- whet-compile ---

struct CompileRequest {
  static constexpr std::string_view kKind = "compile";
  WorkloadSource workload;
  DeviceLimits limits;
  Configuration configuration;
  CompileOptions options;
  bool profile = false;  ///< a profile build, which is neither validated nor stored
};

/// Ok with an artifact and its plan, or how the candidate ended.
struct CompileResponse {
  static constexpr std::string_view kKind = "compiled";
  Status status = Status::Ok;
  std::string detail;
  std::filesystem::path artifact;
  LaunchPlan plan;
  std::string source_sha256;
  Resources resources;
  std::vector<TaskPath> paths;
  double compile_s = 0.0;
  bool cache_hit = false;

  bool operator==(const CompileResponse&) const = default;
};

// --- whet-worker ---

/// The first request: which device, and for which workload.
struct OpenRequest {
  static constexpr std::string_view kKind = "open";
  Target target = Target::Cpu;
  std::string device;   ///< CUDA ordinal or UUID
  int num_threads = 0;  ///< CPU target
  WorkloadSource workload;
  std::filesystem::path tolerances;

  bool operator==(const OpenRequest&) const = default;
};

struct DescribeRequest {
  static constexpr std::string_view kKind = "describe";

  bool operator==(const DescribeRequest&) const = default;
};

/// Answers OpenRequest and DescribeRequest.
struct DescribeResponse {
  static constexpr std::string_view kKind = "described";
  std::string device;
  std::vector<std::int64_t> loaded;  ///< ids, ascending

  bool operator==(const DescribeResponse&) const = default;
};

struct LoadRequest {
  static constexpr std::string_view kKind = "load";
  std::int64_t id = 0;
  std::filesystem::path artifact;
  LaunchPlan plan;

  bool operator==(const LoadRequest&) const = default;
};

struct UnloadRequest {
  static constexpr std::string_view kKind = "unload";
  std::int64_t id = 0;

  bool operator==(const UnloadRequest&) const = default;
};

/// Answers LoadRequest and UnloadRequest, and is part of the other answers.
struct Outcome {
  static constexpr std::string_view kKind = "outcome";
  Status status = Status::Ok;
  std::string detail;
  /// The process or its device may be damaged: what it says next is not to be trusted.
  bool must_restart = false;

  bool operator==(const Outcome&) const = default;
};

struct ValidateRequest {
  static constexpr std::string_view kKind = "validate";
  std::int64_t id = 0;
  std::vector<std::filesystem::path> bundles;  ///< one a seed

  bool operator==(const ValidateRequest&) const = default;
};

struct ValidateResponse {
  static constexpr std::string_view kKind = "validated";
  Outcome outcome;
  bool deterministic = false;
  std::optional<TensorError> worst;  ///< largest error / limit

  bool operator==(const ValidateResponse&) const = default;
};

/// Blocks of samples of loaded candidates, in the given order. The state is that of the bundle at
/// the start of every block.
struct MeasureRequest {
  static constexpr std::string_view kKind = "measure";
  std::vector<std::int64_t> order;  ///< one id a block
  std::filesystem::path bundle;
  int num_steps = 20;  ///< steps of the replayed sequence
  BlockPlan plan;

  bool operator==(const MeasureRequest&) const = default;
};

/// One block of one candidate.
struct MeasuredBlock {
  std::int64_t id = 0;
  std::int64_t num_steps = 0;  ///< steps that each sample averages
  int num_dropped = 0;         ///< samples that were no positive finite number
  bool steady = true;
  std::vector<Sample> samples;

  bool operator==(const MeasuredBlock&) const = default;
};

struct MeasureResponse {
  static constexpr std::string_view kKind = "measured";
  Outcome outcome;
  std::int64_t fault_id = -1;         ///< in whose block the outcome came about, if it is not Ok
  std::vector<MeasuredBlock> blocks;  ///< those that ended well

  bool operator==(const MeasureResponse&) const = default;
};

/// The timeline of a loaded profile build.
struct TimelineRequest {
  static constexpr std::string_view kKind = "timeline";
  std::int64_t id = 0;
  std::filesystem::path bundle;
  int num_steps = 20;     ///< of the replayed sequence, whose last launch is looked at
  int num_launches = 15;  ///< sequences over which each stamp's median is taken

  bool operator==(const TimelineRequest&) const = default;
};

struct TimelineResponse {
  static constexpr std::string_view kKind = "timelined";
  Outcome outcome;
  Timeline timeline;

  bool operator==(const TimelineResponse&) const = default;
};

// --- every child ---

/// Instead of an answer: an Error that ends the command, by its exit code (DESIGN: 2, 3, 70).
struct ErrorResponse {
  static constexpr std::string_view kKind = "error";
  int exit_code = 70;
  std::string text;

  bool operator==(const ErrorResponse&) const = default;
};
/// Throws the Error of that exit code.
[[noreturn]] void raise(const ErrorResponse& error);

/// The message that carries `value`. One overload a struct above.
template <typename T>
Message encode(const T& value);

/// The struct in a message. Throws EnvironmentError for another kind, or saying which field of the
/// body is missing or wrong.
template <typename T>
T decode(const Message& message);

}  // namespace whet
