#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "schedule/configuration.hpp"
#include "schedule/task_path.hpp"

namespace whet {

/// How a candidate ended.
enum class Status {
  Ok,
  ConstraintViolated,
  CompileFailed,
  CompileTimedOut,
  LaunchFailed,
  Crashed,
  TimedOut,
  BarrierHang,
  WrongResult,
  OutOfMemory,
};
/// "Ok", "ConstraintViolated" …
std::string_view status_name(Status status);
std::optional<Status> parse_status(std::string_view name);

/// What a compiled kernel occupies.
struct Resources {
  std::int64_t registers = 0;  ///< a thread; 0 on the CPU target
  std::int64_t spill_store_bytes = 0;
  std::int64_t spill_load_bytes = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t code_bytes = 0;

  bool operator==(const Resources&) const = default;
};

/// One timing: ns a step of a block of `num_steps` steps.
struct Sample {
  double time_ns = 0.0;
  double clock_mhz = 0.0;      ///< 0: not read
  double temperature_c = 0.0;  ///< 0: not read
  bool throttled = false;

  bool operator==(const Sample&) const = default;
};

/// Samples of one candidate from one block in one process.
struct SampleBlock {
  std::int64_t process = 0;  ///< which worker process of the session, counted from 0
  std::int64_t block = 0;    ///< position in that process's interleaved order
  std::int64_t num_steps = 0;
  std::string purpose;  ///< "screen", "final", "publish", "peer"
  std::vector<Sample> samples;

  bool operator==(const SampleBlock&) const = default;
};

/// How far a tensor is from the reference.
struct TensorError {
  std::string tensor;  ///< the user's name
  std::string when;    ///< "step 1", "replay", "trajectory"
  double error = 0.0;  ///< relative norm of the difference of changes
  double limit = 0.0;
  std::uint64_t seed = 0;

  bool operator==(const TensorError&) const = default;
};

/// What happened to a candidate. A failure is data, never an exception or an infinite time.
struct Evaluation {
  Configuration configuration;
  Status status = Status::Ok;
  std::string detail;  ///< compiler's or driver's text, or the worst tensor and element
  std::string source_sha256;
  double compile_s = 0.0;
  Resources resources;
  std::vector<TaskPath> paths;       ///< that its tasks take; none if no schedule was reached
  bool deterministic = false;        ///< two runs gave the same bits; of Ok only
  std::optional<TensorError> worst;  ///< largest error / limit of the validation
  std::vector<SampleBlock> blocks;

  bool operator==(const Evaluation&) const = default;
};

/// Median of all samples of `purpose` (all purposes if empty); nothing if there is none.
std::optional<double> median_time_ns(const Evaluation& evaluation, std::string_view purpose = "");

/// The one JSON codec. from_json throws UserError naming the missing or wrong field.
Json to_json(const SampleBlock& block);
Json to_json(const Evaluation& evaluation);
Evaluation evaluation_from_json(const Json& json);

}  // namespace whet
