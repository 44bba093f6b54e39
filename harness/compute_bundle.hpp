#pragma once

#include <cstdint>

#include "harness/reference_bundle.hpp"
#include "ir/workload.hpp"

namespace whet {

/// A bundle that has its data (inputs, scalars, initial state by the fills) and nothing computed.
ReferenceBundle draw_bundle(const Workload& workload, std::uint64_t seed);

/// Computes a workload's reference bundle for a seed with `num_threads` threads of LibTorch.
ReferenceBundle compute_bundle(const Workload& workload, std::uint64_t seed, int num_threads);

}  // namespace whet
