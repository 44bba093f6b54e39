#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/reference_bundle.hpp"
#include "harness/tolerances.hpp"
#include "ir/workload.hpp"

namespace whet {

/// What is compared of a tensor.
enum class Measure {
  Change,   ///< norm of the difference of changes since the initial state
  Norm,     ///< norm of the difference
  Element,  ///< largest difference of an element
};

/// One comparison of one tensor at one snapshot: what it is divided by and how far it may be off.
struct Check {
  std::size_t snapshot_idx = 0;
  bool is_state = true;
  std::size_t tensor_idx = 0;  ///< in step.state or step.outputs
  Measure measure = Measure::Change;
  std::string tensor{};  ///< the user's name
  std::string when{};    ///< "step 1", "replay", "trajectory"
  std::vector<double> expected{};
  std::vector<double> base{};  ///< what changes count from; empty: zero
  /// Size of the right answer: norm of the change or of the tensor, or its rms. 0 where only the
  /// same bits will do: integers, masks, and what no correct implementation changes.
  double size = 0.0;
  /// The right answer is zero up to rounding: `size` is the largest that a correct implementation
  /// made of it, and a candidate that does nothing is right.
  bool is_zero = false;
  /// The loss among the outputs: size and limit are those of its step.
  bool is_loss = false;
  double limit = 0.0;
};

/// How far one tensor is from what a check expects.
struct Distance {
  /// In units of the check's size; kUnlike when NaN, infinities or exact values are at other
  /// places.
  double error = 0.0;
  std::size_t worst_idx = 0;
};
/// A finite number, so that it can be written as JSON.
inline constexpr double kUnlike = 1e300;

Distance distance(const Check& check, const std::vector<double>& got);

/// Whether at least one element of the right answer is a finite number.
bool has_finite(const Check& check);

/// Every comparison that a bundle asks for, with its limit: max(floor, factor * E). E is the root
/// mean square of the errors of native eager and the other orders over the tensors of one dtype, or
/// over this tensor alone if that is more. An implementation with NaN or infinity at other places
/// than the reference does not count: LibTorch can be wrong (an f16 mean that overflows).
std::vector<Check> make_checks(
    const Workload& workload, const ReferenceBundle& bundle, const Tolerances& tolerances
);

/// Limits of the losses, one a step; empty when the loss is not among the outputs. E is here the
/// largest root mean square over the steps so far, as errors of a trajectory grow.
struct LossLimits {
  std::vector<double> limits;
  /// What differences are divided by: the loss or, where that is more, the geometric mean of it and
  /// the rms of all. The loss of a model that has learned is a sum of squares of small differences
  /// of rounded numbers: one rounding changes it by a share that grows as 1 / sqrt(loss).
  std::vector<double> sizes;
};
LossLimits make_loss_limits(
    const Workload& workload, const ReferenceBundle& bundle, const Tolerances& tolerances
);

/// |got - expected| / size, or kUnlike.
double loss_error(double expected, double got, double size);

/// "step 1", "replay" or "trajectory": what a number of steps is called.
std::string when_of(const Workload& workload, int step);

}  // namespace whet
