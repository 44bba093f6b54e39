#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace whet {

/// How LibTorch computes an op. The dtype of each result, and so each rounding, is eager's in all.
enum class Arithmetic {
  Native,     ///< LibTorch's own kernels
  Reference,  ///< operands widened to f64, the result rounded once to its dtype
  Reversed,   ///< native, but sums run backwards in f32, and a relu near zero lets through
  Split,  ///< native, but sums run in f32 over four parts of a seeded permutation, and a relu near
          ///< zero blocks
};

/// While it lives, the ops that this thread dispatches (and the backward passes that it runs on the
/// CPU) are computed so. Guards nest; the innermost counts.
class ArithmeticGuard {
 public:
  /// `seed` draws the permutations of Split.
  explicit ArithmeticGuard(Arithmetic arithmetic, std::uint64_t seed = 0);
  ~ArithmeticGuard();
  ArithmeticGuard(const ArithmeticGuard&) = delete;
  ArithmeticGuard& operator=(const ArithmeticGuard&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Turns TF32, reduced-precision reductions and flushing of denormals off, whatever the
/// process-wide settings say, and sets the number of threads. Returns these settings in words.
std::string use_exact_settings(int num_threads);

/// "2.11.0".
std::string libtorch_version();

}  // namespace whet
