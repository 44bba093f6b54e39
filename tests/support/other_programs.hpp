#pragma once

#include <string>
#include <variant>
#include <vector>

#include "schedule/resolve.hpp"
#include "support/programs.hpp"

namespace whet::testing {

struct NamedProgram {
  std::string name;
  Program program;
};

/// Steps that are no two layers of round widths: other depths, widths that are no multiple of 8, a
/// weight used twice, residual connections, two heads with a loss each.
inline std::vector<NamedProgram> other_programs(DType dtype) {
  return {
      {"depth_1", layers(12, {24, 10}, dtype)},
      {"depth_3", layers(16, {32, 40, 24, 8}, dtype)},
      {"depth_5", layers(8, {16, 24, 32, 24, 16, 8}, dtype)},
      {"odd_widths", layers(9, {33, 21, 13, 7}, dtype)},
      {"tied", tied(12, 24, 40, dtype)},
      {"residual", residual(10, 36, dtype)},
      {"two_heads", two_heads(12, 20, 36, 5, 18, dtype)},
  };
}

inline const std::vector<std::string>& other_program_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const NamedProgram& named : other_programs(DType::F32)) {
      list.push_back(named.name);
    }
    return list;
  }();
  return names;
}

/// Largest error of a change: sums run in another order, which flips a rounding here and there, and
/// each layer that the gradient goes back through can flip one more.
inline double error_limit(DType dtype) {
  return dtype == DType::F32 ? 5e-4 : dtype == DType::F16 ? 1e-2 : 3e-2;
}

constexpr int kOtherSteps = 4;

/// Both partitions at their defaults on this many blocks, and `num_sampled` legal configurations of
/// the space, whose launches divide the steps.
inline std::vector<std::string> tried_configurations(
    const Program& program, const DeviceLimits& limits, int num_sampled
) {
  std::vector<std::string> list{
      "partition=block", "partition=grid blocks=" + std::to_string(limits.num_sms)};
  const SearchSpace space(program, limits);
  // The space repeats a pattern of four, of which every fourth draws all knobs.
  constexpr std::uint64_t kSeed = 11;
  for (std::uint64_t n = 3; num_sampled > 0; n += 2) {
    const Configuration configuration = space.sample(kSeed, n);
    if (kOtherSteps % steps_per_launch(configuration) == 0 &&
        std::holds_alternative<Schedule>(resolve(program, configuration, limits))) {
      list.push_back(to_text(configuration));
      --num_sampled;
    }
  }
  return list;
}

}  // namespace whet::testing
