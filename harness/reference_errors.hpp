#pragma once

#include "base/json.hpp"
#include "harness/reference_bundle.hpp"
#include "ir/workload.hpp"

namespace whet {

/// How far LibTorch's own ways to compute a bundle are from its reference, which is what tolerances
/// are made from: a list of {"tensor", "when", "measure", "native", "reversed", "split"}, and of
/// the losses the largest error of each stretch.
Json reference_errors(const Workload& workload, const ReferenceBundle& bundle);

}  // namespace whet
