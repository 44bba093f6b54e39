#include "base/philox.hpp"

#include <cmath>
#include <numbers>

namespace whet {
namespace {

constexpr std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32_10(
    std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key
) {
  // Multipliers and Weyl increments of Philox4x32 in Random123.
  constexpr std::uint64_t kMultiplier0 = 0xd2511f53u;
  constexpr std::uint64_t kMultiplier1 = 0xcd9e8d57u;
  constexpr std::uint32_t kWeyl0 = 0x9e3779b9u;
  constexpr std::uint32_t kWeyl1 = 0xbb67ae85u;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {
        high_word(product1) ^ counter[1] ^ key[0],
        low_word(product1),
        high_word(product0) ^ counter[3] ^ key[1],
        low_word(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

std::uint32_t Philox::word(std::uint64_t i) const {
  const std::uint64_t block = i / 4;
  return philox4x32_10(
      {low_word(block), high_word(block), low_word(stream_), high_word(stream_)},
      {low_word(seed_), high_word(seed_)}
  )[i % 4];
}

double Philox::uniform(std::uint64_t i) const {
  return (static_cast<double>(word(i)) + 0.5) * 0x1p-32;
}

double Philox::normal(std::uint64_t i) const {
  return std::sqrt(-2.0 * std::log(uniform(2 * i))) *
         std::cos(2.0 * std::numbers::pi * uniform(2 * i + 1));
}

}  // namespace whet
