#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluation/evaluation.hpp"
#include "harness/reference_bundle.hpp"
#include "harness/tolerances.hpp"

namespace whet {

/// Error of every state tensor (of its change), declared output and loss against the reference.
struct ValidationResult {
  bool passed = false;
  /// One for each comparison; of an output two, its norm and " (element)"; of the losses the worst
  /// of each stretch. An error of 1e300 stands for NaN, infinity or an exact value at another
  /// place.
  std::vector<TensorError> errors;
  std::optional<TensorError> worst;  ///< largest error / limit
  /// Failed: the worst tensor with index, expected and got of its worst element. Passed: empty, or
  /// a note that every value compared was NaN.
  std::string detail;
};

/// Compares one candidate's trajectory with the bundle's reference. NaN equals NaN only at the same
/// place, infinity likewise. What is compared is change: a state tensor's ||dc - dr|| / ||dr|| with
/// d = state_t - state_0; outputs normwise and elementwise; the loss of every step. A candidate has
/// the reference's snapshots at multiples of its steps_per_launch; its losses may be missing only
/// where the loss is not an output.
ValidationResult compare(
    const Workload& workload,
    const ReferenceBundle& bundle,
    const Trajectory& candidate,
    const Tolerances& tolerances
);

/// Nothing if the bundle can tell right from wrong; else which of zeros, the initial state, half
/// the change, the previous step's state and the previous step's loss would pass, and for which
/// tensor; or that an update is lost to rounding. docs/formats/tolerances.md has the rules.
std::optional<std::string> why_powerless(
    const Workload& workload, const ReferenceBundle& bundle, const Tolerances& tolerances
);

}  // namespace whet
