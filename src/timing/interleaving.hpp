#pragma once

#include <cstdint>
#include <vector>

namespace whet {

/// The order of blocks of `num_subjects` in one process: a seeded random order, then its reverse,
/// `num_rounds` times. Each subject has two blocks a round, and a drift that is linear in time adds
/// the same to all of them (ABBA). Source: the interleaving of the selection procedure,
/// docs/method.md.
std::vector<int> interleaved_order(int num_subjects, int num_rounds, std::uint64_t seed);

}  // namespace whet
