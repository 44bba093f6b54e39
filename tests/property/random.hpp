#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/philox.hpp"

namespace whet::testing {

/// Draws for a test, the same on every machine.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : philox_(seed, stream) {}

  /// 0 to `count` - 1.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(philox_.word(next_++)) % count;
  }
  double between(double low, double high) { return low + (high - low) * philox_.uniform(next_++); }
  bool chance(double probability) { return between(0.0, 1.0) < probability; }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }

 private:
  Philox philox_;
  std::uint64_t next_ = 0;
};

}  // namespace whet::testing
