#include "cli/compare.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"
#include "cli/configuration_choice.hpp"
#include "cli/evaluator_setup.hpp"
#include "cli/noise.hpp"
#include "cli/record_identity.hpp"
#include "cli/stored_match.hpp"
#include "cli/workload_choice.hpp"
#include "tuner/comparison.hpp"

namespace whet {
namespace {

/// Of the stored session, completed where its space had fewer knobs.
Configuration stored_winner(
    const CompareOptions& options,
    const LookupKey& key,
    const SearchSpace& space,
    const Environment& environment
) {
  const std::filesystem::path database = database_path(environment, options.database);
  const Match match = find_match(database, key);
  const std::optional<SessionReport> session = find_session(database, key, match);
  if (!session || !session->decision.winner) {
    throw UserError(fmt::format(
        "stored: {} holds no winner of this workload for this device ({}); `whet tune` makes one",
        database.string(),
        match.reason
    ));
  }
  const Configuration configuration = space.complete(*session->decision.winner);
  if (const auto problem = space.why_not_member(configuration)) {
    throw UserError(fmt::format("stored: no member of this version's space: {}", *problem));
  }
  return configuration;
}

Json to_json(const ComparedTimes& compared) {
  Json ratio{{"mean", compared.ratio}, {"low", compared.low}};
  if (std::isfinite(compared.high)) {
    ratio["high"] = compared.high;
  }
  return {
      {"verdict", comparison_name(compared.verdict)},
      {"ratio", std::move(ratio)},
      {"num_processes", compared.num_processes}};
}

void print_text(const ComparedTimes& compared, double alpha) {
  fmt::print(
      "{}: the candidate takes {:.4f} [{:.4f}, {:.4f}] of the base's time, from {} processes\n",
      comparison_name(compared.verdict),
      compared.ratio,
      compared.low,
      compared.high,
      compared.num_processes
  );
  fmt::print("A verdict that is given is false with a probability of at most {}.\n", alpha);
}

/// Blocks of both; throws EnvironmentError for one that no longer runs.
void measure_more(
    Evaluator& evaluator, InterleavedRequest& request, int num_processes, ComparedBlocks& blocks
) {
  request.num_processes = num_processes;
  const InterleavedResult result = evaluator.measure_interleaved(request);
  request.seed += static_cast<std::uint64_t>(num_processes);
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    const InterleavedEntry& entry = result.candidates[i];
    if (entry.status != Status::Ok) {
      throw EnvironmentError(fmt::format(
          "{} ended as {}: {}",
          i == 0 ? "base" : "candidate",
          status_name(entry.status),
          entry.detail
      ));
    }
    std::vector<SampleBlock>& own = i == 0 ? blocks.base : blocks.candidate;
    own.insert(own.end(), entry.blocks.begin(), entry.blocks.end());
  }
}

}  // namespace

int run_compare(const CompareOptions& options, const Environment& environment) {
  const WorkloadChoice workload =
      choose_workload(options.workload, parse_dims(options.dims), environment);
  const DeviceChoice device = choose_present_device(options.device, environment);
  if (device.limits.target == Target::CudaEmulated) {
    throw UserError(
        "compare: expected --target cpu or cuda, found cuda-emulated, which is never timed"
    );
  }
  const SearchSpace space(workload.workload.step, device.limits);
  const auto choose = [&](const std::string& text, const char* name) {
    if (text == "stored") {
      return stored_winner(
          options, lookup_key(workload, device.limits, environment), space, environment
      );
    }
    return choose_configuration(text == "default" ? "" : text, space, name);
  };
  InterleavedRequest request{
      .candidates = {choose(options.base, "BASE"), choose(options.candidate, "CANDIDATE")},
      .num_rounds = 2,
      .purpose = "final",
      .seed = options.seed};
  Evaluator evaluator(evaluator_options(workload, device, environment));
  evaluator.prepare();
  for (const Configuration& configuration : request.candidates) {
    const Evaluation evaluation = evaluate(evaluator, configuration);
    if (evaluation.status != Status::Ok) {
      fmt::print(
          stderr,
          "whet: {}: {}: {}\n",
          to_text(configuration),
          status_name(evaluation.status),
          evaluation.detail
      );
      return 1;
    }
  }
  const SelectorOptions selector{.process_sd = known_process_sd(device.limits, environment)};
  ComparedBlocks blocks;
  const ComparedTimes compared = compare_by_looks(
      [&](int num_processes) {
        measure_more(evaluator, request, num_processes, blocks);
        return blocks;
      },
      selector
  );
  if (options.json) {
    Json document{
        {"schema", "whet.comparison/1"},
        {"workload", workload.name},
        {"key", workload.key},
        {"target", target_name(device.limits.target)},
        {"device", evaluator.device()},
        {"base", request.candidates[0].values},
        {"candidate", request.candidates[1].values},
        {"alpha", selector.alpha},
        {"indifference", selector.indifference}};
    document.update(to_json(compared));
    for (const auto& [name, own] :
         {std::pair("base_blocks", &blocks.base),
          std::pair("candidate_blocks", &blocks.candidate)}) {
      document[name] = Json::array();
      for (const SampleBlock& block : *own) {
        document[name].push_back(to_json(block));
      }
    }
    fmt::print("{}\n", document.dump(2));
  } else {
    print_text(compared, selector.alpha);
  }
  return compared.verdict == Comparison::Slower ? 1 : 0;
}

}  // namespace whet
