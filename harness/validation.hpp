#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/evaluation.hpp"
#include "harness/reference_bundle.hpp"

namespace whet {

/// Limits of `configs/tolerances.json`: per dtype a floor for step 1, the replay and the trajectory,
/// and the factor c on the pooled error E of other correct implementations.
struct Tolerances {
  struct Floor {
    double step1 = 0.0;
    double replay = 0.0;
    double trajectory = 0.0;
  };
  std::map<DType, Floor> floors;  ///< by the lowest precision that the program computes in
  double factor = 4.0;

  static Tolerances load(const std::filesystem::path& path);
};

/// Error of every state tensor (of its change), declared output and loss against the reference.
struct ValidationResult {
  bool passed = false;
  std::vector<TensorError> errors;
  /// The worst tensor with index, expected and got of its worst element, or which check failed.
  std::string detail;
};

/// Compares one candidate's trajectory with the bundle's reference. NaN equals NaN only at the same
/// place. What is compared is change: a state tensor's ||dc - dr|| / ||dr|| with d = state_t - state_0.
ValidationResult compare(
    const Workload& workload,
    const ReferenceBundle& bundle,
    const Trajectory& candidate,
    const Tolerances& tolerances
);

/// Nothing if the bundle can tell right from wrong; else which of zeros, the initial state and the
/// previous step's state would pass, and for which tensor.
std::optional<std::string> why_powerless(
    const Workload& workload, const ReferenceBundle& bundle, const Tolerances& tolerances
);

}  // namespace whet
