#pragma once

namespace whet {

/// A closed interval.
struct Interval {
  double low = 0.0;
  double high = 0.0;

  bool operator==(const Interval&) const = default;
};

}  // namespace whet
