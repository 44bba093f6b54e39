#include "cli/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_parse.hpp"
#include "cli/device_files.hpp"
#include "cli/evaluator_setup.hpp"
#include "cli/record_identity.hpp"
#include "cli/workload_choice.hpp"
#include "schedule/search_space.hpp"
#include "stats/quantile.hpp"
#include "tuner/aa_test.hpp"

namespace whet {
namespace {

/// How much faster than the median the fastest copy looks in screening, as a fraction.
double apparent_gain(const AaTest& test) {
  return median(test.screening_ns) / *std::ranges::min_element(test.screening_ns) - 1.0;
}

Json to_json(const NoiseFloor& noise) {
  return {
      {"sample_sd", noise.sample_sd},
      {"block_sd", noise.block_sd},
      {"process_sd", noise.process_sd},
      {"drift", noise.drift},
      {"num_processes", noise.num_processes}};
}

Json noise_document(
    const AaTest& test,
    const WorkloadChoice& workload,
    const Evaluator& evaluator,
    Target target,
    const Configuration& configuration
) {
  Json detectable = Json::array();
  for (const Look& look : looks()) {
    detectable.push_back(
        {{"num_processes", look.num_processes},
         {"difference",
          detectable_difference(
              test.noise.process_sd,
              look.num_processes,
              comparison_alpha(look, test.finalists.entries.size(), SelectorOptions{})
          )}}
    );
  }
  Json samples = Json::array();
  for (const Finalist& finalist : test.finalists.entries) {
    Json blocks = Json::array();
    for (const SampleBlock& block : finalist.blocks) {
      blocks.push_back(to_json(block));
    }
    samples.push_back({{"copy", finalist.configuration.values.at("copy")}, {"blocks", blocks}});
  }
  return {
      {"schema", "whet.noise/1"},
      {"workload", workload.name},
      {"key", workload.key},
      {"target", target_name(target)},
      {"device", evaluator.device()},
      {"environment", generating_versions(target)},
      {"configuration", configuration.values},
      {"num_copies", test.screening_ns.size()},
      {"leaves_baseline", test.choice.selection.leaves_baseline},
      {"num_false_wins", test.num_false_wins},
      {"apparent_gain", apparent_gain(test)},
      {"noise", to_json(test.noise)},
      {"detectable", std::move(detectable)},
      {"screening_ns", test.screening_ns},
      {"samples", std::move(samples)}};
}

void print_text(const Json& document) {
  const auto percent = [](const Json& value) {
    return fmt::format("{:.2f} %", 100.0 * value.get<double>());
  };
  const Json& noise = document["noise"];
  fmt::print(
      "{} byte-identical kernels of {} on {}\n",
      document["num_copies"].get<int>(),
      document["workload"].get<std::string>(),
      document["device"].get<std::string>()
  );
  const auto row = [](const char* name, const std::string& value, const char* about) {
    fmt::print("  {:<20} {:>8}  {}\n", name, value, about);
  };
  fmt::print(
      "  {:<20} {}\n",
      "verdict",
      document["leaves_baseline"].get<bool>() ? "a copy is said to beat the baseline: a false win"
                                              : "none beats the baseline"
  );
  row("false wins",
      std::to_string(document["num_false_wins"].get<int>()),
      "finalists that lose to a copy when they are the baseline");
  row("fastest screened",
      percent(document["apparent_gain"]),
      "below the median copy: what taking the lowest would claim");
  row("timings", percent(noise["sample_sd"]), "standard deviation in a block");
  row("blocks", percent(noise["block_sd"]), "of a candidate in one process");
  row("processes", percent(noise["process_sd"]), "of a candidate against its like in a process");
  row("drift", percent(noise["drift"]), "from the first to the last block of a process");
  for (const Json& entry : document["detectable"]) {
    row(fmt::format("{} processes", entry["num_processes"].get<int>()).c_str(),
        percent(entry["difference"]),
        "the difference that is found half of the time");
  }
}

}  // namespace

int run_noise(const NoiseOptions& options, const Environment& environment) {
  const WorkloadChoice workload =
      choose_workload(options.workload, parse_dims(options.dims), environment);
  const DeviceChoice device = choose_present_device(options.device, environment);
  if (device.limits.target == Target::CudaEmulated) {
    throw UserError(fmt::format(
        "--noise: expected --target cpu or cuda, found {}, which is never timed",
        target_name(device.limits.target)
    ));
  }
  const std::filesystem::path path = options.output.empty()
                                         ? device_file("noise", device.limits, environment)
                                         : std::filesystem::path(options.output);
  if (path.empty()) {
    throw EnvironmentError(
        "no place for the noise: HOME, XDG_DATA_HOME and WHET_DB are not set; give --output FILE"
    );
  }
  const Configuration configuration =
      SearchSpace(workload.workload.step, device.limits).default_configuration();
  Evaluator evaluator(evaluator_options(workload, device, environment));
  evaluator.prepare();
  const Evaluation evaluation = evaluate(evaluator, configuration);
  if (evaluation.status != Status::Ok) {
    throw EnvironmentError(fmt::format(
        "the default configuration of {} ends as {}: {}",
        workload.name,
        status_name(evaluation.status),
        evaluation.detail
    ));
  }
  SessionOptions session;
  session.seed = options.seed;
  const AaTest test = run_aa_test(evaluator, configuration, options.num_candidates, session);
  const Json document =
      noise_document(test, workload, evaluator, device.limits.target, configuration);
  write_file_atomically(path, document.dump(1) + "\n");
  if (options.json) {
    fmt::print("{}\n", document.dump(2));
  } else {
    print_text(document);
    fmt::print("stored in {}\n", path.string());
  }
  return test.choice.selection.leaves_baseline ? 1 : 0;
}

double known_process_sd(const DeviceLimits& limits, const Environment& environment) {
  const std::filesystem::path path = device_file("noise", limits, environment);
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) {
    return 0.0;
  }
  const Json document = parse_json(read_file(path), path.string());
  try {
    return document.at("noise").at("process_sd").get<double>();
  } catch (const nlohmann::json::exception& problem) {
    throw UserError(
        fmt::format("{}: {}; `whet doctor --noise` writes it again", path.string(), problem.what())
    );
  }
}

}  // namespace whet
