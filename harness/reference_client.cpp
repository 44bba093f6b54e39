#include "harness/reference_client.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "harness/reference_bundle.hpp"
#include "harness/tolerances.hpp"
#include "harness/validation.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeyDigits = 16;

/// The workload as a file that nobody edits while we run.
fs::path workload_file(const ReferenceOptions& options) {
  const std::string digest = sha256_hex(options.workload.text).substr(0, kKeyDigits);
  const fs::path path = options.cache_folder / "workloads" / (digest + ".json");
  if (!fs::exists(path)) {
    write_file_atomically(path, options.workload.text);
  }
  return path;
}

std::vector<std::string> command_for(
    const ReferenceOptions& options, const std::string& subcommand, const fs::path& workload
) {
  std::vector<std::string> command = options.command;
  command.insert(command.end(), {subcommand, "--workload", workload.string()});
  for (const auto& [name, size] : options.workload.dims) {
    command.insert(command.end(), {"--dim", fmt::format("{}={}", name, size)});
  }
  if (options.num_threads > 0) {
    command.insert(command.end(), {"--threads", std::to_string(options.num_threads)});
  }
  return command;
}

/// Tells builds of whet-reference apart: another one may link another LibTorch.
std::string program_fingerprint(const std::string& program) {
  struct stat info {};
  if (::stat(program.c_str(), &info) != 0) {
    throw EnvironmentError(fmt::format(
        "cannot find {}, which computes the reference with LibTorch: build with WHET_TORCH=pip or "
        "system",
        program
    ));
  }
  const std::string identity =
      fmt::format("{} {} {}.{}", program, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  return sha256_hex(identity).substr(0, kKeyDigits);
}

fs::path bundle_path(
    const Workload& workload, const ReferenceOptions& options, std::uint64_t seed
) {
  const std::string name = fmt::format(
      "{}-{}-{}-{}.safetensors",
      workload_key(workload.step).substr(0, kKeyDigits),
      data_key(workload).substr(0, kKeyDigits),
      program_fingerprint(options.command.at(0)),
      seed
  );
  return options.cache_folder / "bundles" / name;
}

/// Nothing when the file is not there or cannot be used: then it is made again.
std::optional<ReferenceBundle> find_bundle(const fs::path& path, const Workload& workload) {
  if (!fs::exists(path)) {
    return std::nullopt;
  }
  try {
    return read_bundle(path, workload);
  } catch (const EnvironmentError&) {
    return std::nullopt;
  }
}

ReferenceBundle make_bundle(
    const Workload& workload,
    const ReferenceOptions& options,
    std::uint64_t seed,
    const fs::path& path
) {
  fs::create_directories(path.parent_path());
  std::vector<std::string> command = command_for(options, "bundle", workload_file(options));
  command.insert(command.end(), {"--seed", std::to_string(seed), "--out", path.string()});
  const ProcessResult result = run_process(start_of(command), options.deadline);
  if (result.timed_out) {
    throw EnvironmentError(fmt::format(
        "whet-reference made no bundle of seed {} within {} s",
        seed,
        options.deadline.count() / 1000
    ));
  }
  if (result.exit.signaled || result.exit.code != 0) {
    const ErrorResponse error{
        .exit_code = result.exit.signaled ? 3 : result.exit.code,
        .text = fmt::format(
            "whet-reference made no bundle of seed {}: {}: {}",
            seed,
            result.exit.describe(),
            result.error_output
        )};
    raise(error);
  }
  return read_bundle(path, workload);
}

ProcessOptions peers_start(const ReferenceOptions& options, int num_steps) {
  const bool is_gpu = options.target == Target::Cuda;
  std::vector<std::string> command = command_for(options, "time", workload_file(options));
  command.insert(command.end(), {"--serve", "--steps", std::to_string(num_steps)});
  if (is_gpu) {
    command.insert(command.end(), {"--device", "cuda"});
  }
  ProcessOptions start = start_of(command);
  if (is_gpu && !options.device.empty()) {
    start.set_environment = {{"CUDA_VISIBLE_DEVICES", options.device}};
  }
  return start;
}

Outcome ended(const ChildFault& fault) {
  const bool timed_out = fault.kind == ChildFault::Kind::TimedOut;
  return {
      .status = timed_out ? Status::TimedOut : Status::Crashed,
      .detail = fault.detail,
      .must_restart = true};
}

}  // namespace

ReferenceBundles ensure_bundles(const Workload& workload, const ReferenceOptions& options) {
  const Tolerances tolerances = Tolerances::load(options.tolerances);
  ReferenceBundles bundles;
  for (const std::uint64_t seed : workload.validation.seeds) {
    const fs::path path = bundle_path(workload, options, seed);
    std::optional<ReferenceBundle> bundle = find_bundle(path, workload);
    if (!bundle) {
      bundle = make_bundle(workload, options, seed, path);
    }
    if (const std::optional<std::string> reason = why_powerless(workload, *bundle, tolerances)) {
      throw UserError(fmt::format(
          "{}: the reference of seed {} cannot tell right from wrong: {}",
          options.workload.name,
          seed,
          *reason
      ));
    }
    bundles.paths.push_back(path);
    bundles.libtorch_version = bundle->libtorch_version;
  }
  return bundles;
}

std::vector<std::string> peer_names(Target target) {
  if (target == Target::Cuda) {
    return {"libtorch-eager", "libtorch-graph"};
  }
  return {"libtorch-eager"};
}

PeerClient::PeerClient(
    const ReferenceOptions& options,
    int num_steps,
    const BlockPlan& plan,
    std::chrono::milliseconds block_deadline
)
    : num_steps_(num_steps),
      plan_(plan),
      block_deadline_(block_deadline),
      child_(peers_start(options, num_steps)) {
  // LibTorch alone takes half a second to load, and warm-up comes before the first line.
  const auto ready = child_.call_line(std::nullopt, options.deadline);
  if (const auto* fault = std::get_if<ChildFault>(&ready)) {
    ended_ = ended(*fault);
  }
}

std::variant<Sample, Outcome> PeerClient::time_sample(const std::string& peer, int num_steps) {
  const auto answer = child_.call_line(fmt::format("{} {}", peer, num_steps), block_deadline_);
  if (const auto* fault = std::get_if<ChildFault>(&answer)) {
    return ended(*fault);
  }
  try {
    const auto line = JsonCursor::parse_text(std::get<std::string>(answer), "whet-reference");
    return Sample{.time_ns = line.at("time_ns").as_number()};
  } catch (const UserError& error) {
    return Outcome{.status = Status::Crashed, .detail = error.what(), .must_restart = true};
  }
}

std::variant<MeasuredBlock, Outcome> PeerClient::time(const std::string& peer) {
  if (ended_) {
    return *ended_;
  }
  MeasuredBlock block{.id = -1, .num_steps = 0, .num_dropped = 0, .steady = true, .samples = {}};
  // The first sample of a block is dropped, and tells how many steps a sample needs.
  int steps_per_sample = num_steps_;
  for (int sample_idx = -1; sample_idx < plan_.num_samples; ++sample_idx) {
    const auto sample = time_sample(peer, steps_per_sample);
    if (const auto* outcome = std::get_if<Outcome>(&sample)) {
      ended_ = *outcome;
      return *outcome;
    }
    const double time_ns = std::get<Sample>(sample).time_ns;
    if (sample_idx < 0) {
      const double sequence_ns = time_ns * num_steps_;
      steps_per_sample = num_steps_ * repetitions_per_sample(sequence_ns, plan_.min_sample_ns);
    } else if (std::isfinite(time_ns) && time_ns > 0.0) {
      block.samples.push_back(std::get<Sample>(sample));
    } else {
      ++block.num_dropped;
    }
  }
  block.num_steps = steps_per_sample;
  return block;
}

}  // namespace whet
