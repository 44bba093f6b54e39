#pragma once

namespace whet {

/// The state of a device while a sample was taken; 0 where the device does not say.
struct TimingConditions {
  double clock_mhz = 0.0;
  double temperature_c = 0.0;
  bool throttled = false;

  bool operator==(const TimingConditions&) const = default;
};

/// What is timed, and the clock that times it: a fixed sequence of steps that can be repeated.
class TimedSequence {
 public:
  virtual ~TimedSequence() = default;
  /// Time of `count` back-to-back repetitions in ns, by the device's clock where it has one.
  virtual double time_ns(int count) = 0;
  virtual TimingConditions conditions() = 0;
};

}  // namespace whet
