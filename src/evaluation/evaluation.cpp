#include "evaluation/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace whet {
namespace {

constexpr std::array kStatusNames{
    std::pair{Status::Ok, std::string_view("Ok")},
    std::pair{Status::ConstraintViolated, std::string_view("ConstraintViolated")},
    std::pair{Status::CompileFailed, std::string_view("CompileFailed")},
    std::pair{Status::CompileTimedOut, std::string_view("CompileTimedOut")},
    std::pair{Status::LaunchFailed, std::string_view("LaunchFailed")},
    std::pair{Status::Crashed, std::string_view("Crashed")},
    std::pair{Status::TimedOut, std::string_view("TimedOut")},
    std::pair{Status::BarrierHang, std::string_view("BarrierHang")},
    std::pair{Status::WrongResult, std::string_view("WrongResult")},
    std::pair{Status::OutOfMemory, std::string_view("OutOfMemory")},
};

/// The member `key` as T. Throws UserError naming it.
template <typename T>
T field(const Json& json, const char* key) {
  try {
    return json.at(key).get<T>();
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("evaluation: field {}: {}", key, error.what()));
  }
}

/// An error norm may be infinite or no number, which JSON cannot say.
Json number_to_json(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return std::isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf";
}

double number_field(const Json& json, const char* key) {
  const Json value = field<Json>(json, key);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return value == "inf" ? kInfinity : value == "-inf" ? -kInfinity : field<double>(json, key);
}

/// Throws UserError.
Sample sample_from_json(const Json& json) {
  if (!json.is_array() || json.size() != 4 || !json[0].is_number() || !json[1].is_number() ||
      !json[2].is_number() || !json[3].is_boolean()) {
    throw UserError("evaluation: a sample is [time_ns, clock_mhz, temperature_c, throttled]");
  }
  return {
      .time_ns = json[0].get<double>(),
      .clock_mhz = json[1].get<double>(),
      .temperature_c = json[2].get<double>(),
      .throttled = json[3].get<bool>()};
}

Json to_json(const Resources& resources) {
  return {
      {"registers", resources.registers},
      {"spill_store_bytes", resources.spill_store_bytes},
      {"spill_load_bytes", resources.spill_load_bytes},
      {"static_shared_bytes", resources.static_shared_bytes},
      {"dynamic_shared_bytes", resources.dynamic_shared_bytes},
      {"code_bytes", resources.code_bytes}};
}

Resources resources_from_json(const Json& json) {
  return {
      .registers = field<std::int64_t>(json, "registers"),
      .spill_store_bytes = field<std::int64_t>(json, "spill_store_bytes"),
      .spill_load_bytes = field<std::int64_t>(json, "spill_load_bytes"),
      .static_shared_bytes = field<std::int64_t>(json, "static_shared_bytes"),
      .dynamic_shared_bytes = field<std::int64_t>(json, "dynamic_shared_bytes"),
      .code_bytes = field<std::int64_t>(json, "code_bytes")};
}

Json to_json(const TaskPath& path) {
  return {
      {"task", path.task},
      {"ops", path.ops},
      {"engine", path.engine},
      {"path", path.path},
      {"slower", path.slower}};
}

TaskPath path_from_json(const Json& json) {
  return {
      .task = field<std::string>(json, "task"),
      .ops = field<std::string>(json, "ops"),
      .engine = field<std::string>(json, "engine"),
      .path = field<std::string>(json, "path"),
      .slower = field<std::vector<std::string>>(json, "slower")};
}

SampleBlock block_from_json(const Json& json) {
  SampleBlock block{
      .process = field<std::int64_t>(json, "process"),
      .block = field<std::int64_t>(json, "block"),
      .num_steps = field<std::int64_t>(json, "num_steps"),
      .purpose = field<std::string>(json, "purpose"),
      .samples = {}};
  for (const Json& sample : field<Json>(json, "samples")) {
    block.samples.push_back(sample_from_json(sample));
  }
  return block;
}

}  // namespace

std::string_view status_name(Status status) {
  return kStatusNames[static_cast<std::size_t>(status)].second;
}

std::optional<Status> parse_status(std::string_view name) {
  for (const auto& [status, text] : kStatusNames) {
    if (text == name) {
      return status;
    }
  }
  return std::nullopt;
}

std::optional<double> median_time_ns(const Evaluation& evaluation, std::string_view purpose) {
  std::vector<double> times;
  for (const SampleBlock& block : evaluation.blocks) {
    if (purpose.empty() || block.purpose == purpose) {
      for (const Sample& sample : block.samples) {
        times.push_back(sample.time_ns);
      }
    }
  }
  if (times.empty()) {
    return std::nullopt;
  }
  const std::size_t half = times.size() / 2;
  std::sort(times.begin(), times.end());
  return times.size() % 2 == 1 ? times[half] : 0.5 * (times[half - 1] + times[half]);
}

Json to_json(const SampleBlock& block) {
  Json samples = Json::array();
  for (const Sample& sample : block.samples) {
    samples.push_back(
        Json::array({sample.time_ns, sample.clock_mhz, sample.temperature_c, sample.throttled})
    );
  }
  return {
      {"process", block.process},
      {"block", block.block},
      {"num_steps", block.num_steps},
      {"purpose", block.purpose},
      {"samples", std::move(samples)}};
}

Json to_json(const Evaluation& evaluation) {
  Json json{
      {"configuration", evaluation.configuration.values},
      {"status", std::string(status_name(evaluation.status))},
      {"detail", evaluation.detail},
      {"source_sha256", evaluation.source_sha256},
      {"compile_s", evaluation.compile_s},
      {"resources", to_json(evaluation.resources)},
      {"deterministic", evaluation.deterministic}};
  if (evaluation.worst) {
    json["worst"] = {
        {"tensor", evaluation.worst->tensor},
        {"when", evaluation.worst->when},
        {"error", number_to_json(evaluation.worst->error)},
        {"limit", number_to_json(evaluation.worst->limit)},
        {"seed", evaluation.worst->seed}};
  }
  json["paths"] = Json::array();
  for (const TaskPath& path : evaluation.paths) {
    json["paths"].push_back(to_json(path));
  }
  json["blocks"] = Json::array();
  for (const SampleBlock& block : evaluation.blocks) {
    json["blocks"].push_back(to_json(block));
  }
  return json;
}

Evaluation evaluation_from_json(const Json& json) {
  Evaluation evaluation;
  evaluation.configuration.values =
      field<std::map<std::string, std::string>>(json, "configuration");
  const auto status = parse_status(field<std::string>(json, "status"));
  if (!status) {
    throw UserError("evaluation: field status: unknown " + field<std::string>(json, "status"));
  }
  evaluation.status = *status;
  evaluation.detail = field<std::string>(json, "detail");
  evaluation.source_sha256 = field<std::string>(json, "source_sha256");
  evaluation.compile_s = field<double>(json, "compile_s");
  evaluation.resources = resources_from_json(field<Json>(json, "resources"));
  evaluation.deterministic = field<bool>(json, "deterministic");
  if (json.contains("worst")) {
    const Json& worst = json["worst"];
    evaluation.worst = TensorError{
        .tensor = field<std::string>(worst, "tensor"),
        .when = field<std::string>(worst, "when"),
        .error = number_field(worst, "error"),
        .limit = number_field(worst, "limit"),
        .seed = field<std::uint64_t>(worst, "seed")};
  }
  // Older records name no paths.
  for (const Json& path : json.value("paths", Json::array())) {
    evaluation.paths.push_back(path_from_json(path));
  }
  for (const Json& block : field<Json>(json, "blocks")) {
    evaluation.blocks.push_back(block_from_json(block));
  }
  return evaluation;
}

}  // namespace whet
