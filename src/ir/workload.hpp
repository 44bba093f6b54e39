#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace whet {

/// How a tensor's initial values are drawn (Philox stream per tensor; see
/// docs/formats/workload.md).
struct Fill {
  enum class Kind { Normal, Uniform, Zeros, Ones, Integers, OneHot };
  Kind kind = Kind::Normal;
  double scale = 1.0;     ///< Normal: standard deviation; Uniform: half width around 0
  std::int64_t low = 0;   ///< Integers, inclusive
  std::int64_t high = 1;  ///< Integers, exclusive

  bool operator==(const Fill&) const = default;
};

/// How a forward-form workload updates its state: sgd, p <- p - lr * grad, with lr a scalar.
struct Optimizer {
  std::string kind = "sgd";
  std::string lr;

  bool operator==(const Optimizer&) const = default;
};

/// How long and with which seeds a candidate is compared with the reference.
struct Validation {
  int num_steps = 100;
  int num_replay_steps = 20;
  std::vector<std::uint64_t> seeds{101, 211, 307};

  bool operator==(const Validation&) const = default;
};

/// A Program with concrete shapes, how to fill its tensors, and how to check it.
struct Workload {
  std::string name;
  std::string about;
  /// The whole step: for the forward form with gradients and optimizer appended.
  Program step;
  /// The forward part, present for the forward form: what the reference differentiates itself.
  std::optional<Program> forward;
  std::optional<Optimizer> optimizer;
  std::vector<Fill> input_fills;          ///< one for each of step.inputs
  std::vector<double> scalar_values;      ///< one for each of step.scalars
  std::vector<Fill> state_fills;          ///< one for each of step.state
  std::vector<std::string> output_names;  ///< as the file spells them ("loss", "grad:w1")
  int num_batches = 4;
  Validation validation;

  bool operator==(const Workload&) const = default;
};

/// Dimension names to sizes that replace those of the file.
using DimOverrides = std::map<std::string, std::int64_t>;

/// Reads a `whet.workload/1` file. Throws UserError naming file, JSON path, expected and found.
Workload load_workload(const std::filesystem::path& path, const DimOverrides& dims = {});
/// As load_workload; `name` stands for the file in messages.
Workload parse_workload(
    const std::string& text, const std::string& name, const DimOverrides& dims = {}
);

/// One line of a suite: a workload at given dimensions under its own name.
struct SuiteEntry {
  std::filesystem::path workload;
  DimOverrides dims;
  std::string name;
};
struct Suite {
  std::string name;
  std::string about;
  std::vector<SuiteEntry> entries;
};
/// Reads a `whet.suite/1` file; workload paths are relative to it. Throws UserError.
Suite load_suite(const std::filesystem::path& path);

/// SHA-256 of the ordered interface (shape, strides, dtype, alignment, stable) and a Merkle hash of
/// the ops from the outputs. Names and scalar values do not count.
std::string workload_key(const Program& step);

}  // namespace whet
