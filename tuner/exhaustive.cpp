#include <algorithm>
#include <numeric>
#include <set>

#include "base/philox.hpp"
#include "tuner/strategy.hpp"

namespace whet {
namespace {

/// Indices stay exact in a double, as the space gives its size, and far from overflow below.
constexpr double kMaxPoints = 4503599627370496.0;  // 2^52

/// A stride near size / golden ratio that is coprime to the size: multiples of it, modulo the size,
/// visit every index once and spread evenly at every length. Source: Knuth, The Art of Computer
/// Programming, volume 3, section 6.4, Fibonacci hashing.
std::uint64_t spreading_stride(std::uint64_t size) {
  constexpr double kGoldenRatio = 1.6180339887498949;
  auto stride = static_cast<std::uint64_t>(static_cast<double>(size) / kGoldenRatio);
  stride = stride == 0 ? 1 : stride;
  while (std::gcd(stride, size) != 1) {
    ++stride;
  }
  return stride;
}

class Exhaustive final : public Strategy {
 public:
  Exhaustive(const SearchSpace& space, std::uint64_t seed)
      : space_(space),
        size_(static_cast<std::uint64_t>(std::min(space.size_bound(), kMaxPoints))),
        stride_(spreading_stride(size_)),
        next_(size_ == 0 ? 0 : start(seed, size_)) {}

  std::optional<Configuration> propose() override {
    while (num_visited_ < size_) {
      ++num_visited_;
      const std::uint64_t index = next_;
      // Both are below 2^52, so the sum does not wrap.
      next_ = (next_ + stride_) % size_;
      // Points that differ in a knob without effect are one configuration.
      Configuration configuration = space_.at(index);
      if (proposed_.insert(configuration).second) {
        return configuration;
      }
    }
    return std::nullopt;
  }

  void observe(const Evaluation&) override {}

 private:
  static std::uint64_t start(std::uint64_t seed, std::uint64_t size) {
    const double u = Philox(seed, 0).uniform(0);
    return static_cast<std::uint64_t>(u * static_cast<double>(size)) % size;
  }

  const SearchSpace& space_;
  std::uint64_t size_;
  std::uint64_t stride_;
  std::uint64_t next_;
  std::uint64_t num_visited_ = 0;
  std::set<Configuration> proposed_;
};

}  // namespace

std::unique_ptr<Strategy> make_exhaustive(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<Exhaustive>(space, seed);
}

}  // namespace whet
