#pragma once

#include <array>
#include <cstdint>

namespace whet {

/// Counter-based random numbers, the same here and in Python: word `i` of stream (seed, stream) is
/// word i % 4 of Philox4x32-10 with key = seed and counter = (i / 4, stream), both as two 32-bit
/// words, low word first. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
/// 2011.
class Philox {
 public:
  Philox(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  /// The i-th word of the stream.
  std::uint32_t word(std::uint64_t i) const;
  /// (word(i) + 0.5) / 2^32, in (0, 1).
  double uniform(std::uint64_t i) const;
  /// Standard normal number i by Box-Muller in double from words 2 i and 2 i + 1:
  /// sqrt(-2 ln u0) cos(2 pi u1).
  double normal(std::uint64_t i) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

/// One Philox4x32-10 block.
std::array<std::uint32_t, 4> philox4x32_10(
    std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key
);

}  // namespace whet
