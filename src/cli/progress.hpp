#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "evaluation/evaluation.hpp"
#include "tuner/budget.hpp"

namespace whet {

/// What a search has come to.
struct ProgressState {
  Budget budget;
  Spent spent;
  std::map<Status, std::int64_t> counts;
  std::optional<double> incumbent_ns;  ///< fastest screening median so far
};

/// "[######----] 12/20  best 1.62 µs  8 Ok  4 ConstraintViolated  0:42".
std::string progress_line(const ProgressState& state);

/// Follows a search on `out`: a bar that redraws itself on a terminal, else a line for each new
/// incumbent and each kLineEvery candidates.
class Progress {
 public:
  static constexpr std::int64_t kLineEvery = 25;

  Progress(std::FILE* out, bool is_terminal, const Budget& budget);
  /// What is being done, said before it starts.
  void announce(const std::string& text);
  void observe(const Evaluation& evaluation);
  /// Leaves the last state standing as a line.
  void finish();

 private:
  void draw(bool worth_a_line);
  void clear_bar();

  std::FILE* out_;
  bool is_terminal_;
  bool has_bar_ = false;
  std::int64_t num_seen_ = 0;
  std::chrono::steady_clock::time_point start_;
  ProgressState state_;
};

}  // namespace whet
