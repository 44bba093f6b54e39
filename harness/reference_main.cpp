// whet-reference: correct values from LibTorch, and LibTorch as a peer. The only program that links
// LibTorch. docs/formats/bundle.md has its commands and what they print.

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "harness/compute_bundle.hpp"
#include "harness/cuda_capture.hpp"
#include "harness/eager_peer.hpp"
#include "harness/libtorch_arithmetic.hpp"
#include "harness/reference_errors.hpp"
#include "timing/block.hpp"

namespace whet {
namespace {

struct Options {
  std::filesystem::path workload;
  std::vector<std::string> dims;
  std::uint64_t seed = 101;
  int num_threads = 1;
  // bundle
  std::filesystem::path out;
  // errors
  std::filesystem::path bundle;
  // time
  int num_steps = 20;
  int num_blocks = 20;
  std::string device = "cpu";
  bool captured = false;
  bool serve = false;
};

DimOverrides parse_dims(const std::vector<std::string>& texts) {
  DimOverrides dims;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    std::size_t used = 0;
    std::int64_t size = 0;
    try {
      size = std::stoll(text.substr(equals + 1), &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (equals == 0 || equals == std::string::npos || used != text.size() - equals - 1) {
      throw UserError(fmt::format("--dim: expected NAME=SIZE, found \"{}\"", text));
    }
    dims[text.substr(0, equals)] = size;
  }
  return dims;
}

void print_line(const Json& json) {
  std::cout << json.dump() << std::endl;  // flushed: a parent waits for it
}

void make_bundle(const Options& options) {
  const Workload workload = load_workload(options.workload, parse_dims(options.dims));
  check_bundle_fits(bundle_bytes(workload), options.out);
  const ReferenceBundle bundle = compute_bundle(workload, options.seed, options.num_threads);
  write_bundle(bundle, options.out);
  print_line({
      {"bundle", options.out.string()},
      {"seed", options.seed},
      {"libtorch", bundle.libtorch_version},
      {"flags", bundle.flags},
  });
}

void print_errors(const Options& options) {
  const Workload workload = load_workload(options.workload, parse_dims(options.dims));
  const ReferenceBundle bundle = read_bundle(options.bundle, workload);
  print_line({
      {"workload", workload.name},
      {"dims", options.dims},
      {"seed", bundle.seed},
      {"libtorch", bundle.libtorch_version},
      {"errors", reference_errors(workload, bundle)},
  });
}

constexpr const char* kEager = "libtorch-eager";
constexpr const char* kGraph = "libtorch-graph";

/// What is timed, and how to bring it back to its start.
struct Peers {
  std::unique_ptr<EagerPeer> eager;
  std::unique_ptr<TimedSequence> captured;

  TimedSequence& sequence(const std::string& name) {
    return name == kGraph ? *captured : static_cast<TimedSequence&>(*eager);
  }
};

Peers make_peers(
    const Options& options, const Workload& workload, const ReferenceBundle& data, bool captured
) {
  const at::Device device = options.device == "cuda" ? at::Device(at::kCUDA, 0) : at::kCPU;
  Peers peers;
  peers.eager = std::make_unique<EagerPeer>(workload, data, device, options.num_steps);
  if (captured) {
    // LibTorch's own rule: three warm-ups let libraries and the allocator settle.
    constexpr int kNumWarmUps = 3;
    EagerPeer* eager = peers.eager.get();
    peers.captured = std::make_unique<CapturedSequence>(
        [eager, num_steps = options.num_steps] {
          for (int i = 0; i < num_steps; ++i) {
            eager->step();
          }
        },
        kNumWarmUps
    );
  }
  return peers;
}

Json describe(const Options& options) {
  return {
      {"libtorch", libtorch_version()},
      {"device", options.device},
      {"threads", options.num_threads},
  };
}

/// Answers each "<peer> N" with the time a step of N steps; returns at the end of input.
void serve_blocks(const Options& options, Peers& peers) {
  Json ready = describe(options);
  ready["ready"] = true;
  print_line(ready);
  for (std::string line; std::getline(std::cin, line);) {
    constexpr int kMaxName = 32;
    char name[kMaxName] = {};
    int num_steps = 0;
    char rest = 0;
    const bool is_read = std::sscanf(line.c_str(), "%31s %d%c", name, &num_steps, &rest) == 2;
    const bool is_known =
        std::string(name) == kEager || (std::string(name) == kGraph && peers.captured);
    if (!is_read || !is_known || num_steps < 1) {
      throw UserError(fmt::format(
          "standard input: expected \"{} N\"{}, found \"{}\"",
          kEager,
          peers.captured ? fmt::format(" or \"{} N\"", kGraph) : "",
          line
      ));
    }
    const int count = (num_steps + options.num_steps - 1) / options.num_steps;
    peers.eager->restore();
    const double time_ns = peers.sequence(name).time_ns(count);
    print_line({
        {"time_ns", time_ns / (count * options.num_steps)},
        {"num_steps", count * options.num_steps},
    });
  }
}

void time_blocks(const Options& options, Peers& peers, const BlockPlan& plan) {
  const std::string name = options.captured ? kGraph : kEager;
  TimedSequence& sequence = peers.sequence(name);
  const bool steady = warm_up(sequence, plan);
  const double repetition_ns = sequence.time_ns(1);
  const int count = repetitions_per_sample(repetition_ns, plan.min_sample_ns);
  const int num_steps = count * options.num_steps;
  std::vector<double> samples_ns;
  for (int block = 0; block < options.num_blocks; ++block) {
    peers.eager->restore();
    samples_ns.push_back(sequence.time_ns(count) / num_steps);
  }
  Json result = describe(options);
  result["name"] = name;
  result["steps_per_sample"] = num_steps;
  result["steady"] = steady;
  result["samples_ns"] = samples_ns;
  print_line(result);
}

void time_peer(const Options& options) {
  if (options.device != "cpu") {
    load_libtorch_cuda();
  } else if (options.captured) {
    throw UserError("--captured: only a GPU has graphs; add --device cuda");
  }
  const Workload workload = load_workload(options.workload, parse_dims(options.dims));
  use_exact_settings(options.num_threads);
  const ReferenceBundle data = draw_bundle(workload, options.seed);
  const bool is_gpu = options.device != "cpu";
  Peers peers = make_peers(options, workload, data, options.captured || (options.serve && is_gpu));
  BlockPlan plan;
  constexpr double kMinSampleNs = 1e6;
  plan.min_sample_ns = kMinSampleNs;
  if (options.serve) {
    warm_up(peers.sequence(is_gpu ? kGraph : kEager), plan);
    serve_blocks(options, peers);
  } else {
    time_blocks(options, peers, plan);
  }
}

void add_workload(CLI::App& command, Options& options) {
  command.add_option("--workload", options.workload, "workload file")->required();
  command.add_option("--dim", options.dims, "NAME=SIZE, replaces a dimension of the file");
}

void add_common(CLI::App& command, Options& options) {
  add_workload(command, options);
  command.add_option("--seed", options.seed, "seed of inputs and initial state");
  command.add_option("--threads", options.num_threads, "threads of LibTorch")
      ->check(CLI::PositiveNumber);
}

int run(int argc, char** argv) {
  CLI::App app("Correct values from LibTorch, and LibTorch as a peer.", "whet-reference");
  app.require_subcommand(1);
  Options options;
  CLI::App& bundle = *app.add_subcommand("bundle", "compute a reference bundle");
  add_common(bundle, options);
  bundle.add_option("--out", options.out, "file to write, .safetensors")->required();
  CLI::App& errors = *app.add_subcommand("errors", "how far LibTorch itself is from a bundle");
  add_workload(errors, options);
  errors.add_option("--bundle", options.bundle, "file written by the bundle command")->required();
  CLI::App& time = *app.add_subcommand("time", "time LibTorch eager");
  add_common(time, options);
  time.add_option("--steps", options.num_steps, "steps a repetition")->check(CLI::PositiveNumber);
  time.add_option("--blocks", options.num_blocks, "samples")->check(CLI::PositiveNumber);
  time.add_option("--device", options.device, "cpu, or the first GPU")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  time.add_flag("--captured", options.captured, "replay a CUDA graph of the steps");
  time.add_flag(
      "--serve",
      options.serve,
      "time N steps for each \"libtorch-eager N\" or \"libtorch-graph N\" on standard input"
  );
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    constexpr int kUserError = 2;
    return app.exit(error) == 0 ? 0 : kUserError;
  }
  if (bundle.parsed()) {
    make_bundle(options);
  } else if (errors.parsed()) {
    print_errors(options);
  } else {
    time_peer(options);
  }
  return 0;
}

}  // namespace
}  // namespace whet

int main(int argc, char** argv) {
  constexpr int kEnvironment = 3;
  constexpr int kOurBug = 70;
  try {
    return whet::run(argc, argv);
  } catch (const whet::Error& error) {
    fmt::print(stderr, "whet-reference: {}\n", error.what());
    return error.exit_code();
  } catch (const c10::Error& error) {
    fmt::print(stderr, "whet-reference: LibTorch: {}\n", error.what_without_backtrace());
    return kEnvironment;
  } catch (const std::exception& error) {
    fmt::print(stderr, "whet-reference: {}\n", error.what());
    return kOurBug;
  }
}
