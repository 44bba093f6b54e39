#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/format.hpp"

namespace whet {
namespace {

std::string bar(double fraction) {
  constexpr std::size_t kWidth = 20;
  const auto done = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * kWidth);
  return "[" + std::string(done, '#') + std::string(kWidth - done, '-') + "]";
}

}  // namespace

std::string progress_line(const ProgressState& state) {
  std::string line = bar(fraction_spent(state.budget, state.spent));
  line += fmt::format(" {}", state.spent.num_evaluations);
  if (state.budget.num_evaluations) {
    line += fmt::format("/{}", *state.budget.num_evaluations);
  }
  if (state.incumbent_ns) {
    line += fmt::format("  best {}", format_time(*state.incumbent_ns));
  }
  for (const auto& [status, count] : state.counts) {
    line += fmt::format("  {} {}", count, status_name(status));
  }
  const double elapsed_s = std::chrono::duration<double>(state.spent.time).count();
  line += fmt::format("  {}", format_duration(elapsed_s));
  if (state.budget.time) {
    line += fmt::format(" of {}", format_duration(static_cast<double>(state.budget.time->count())));
  }
  return line;
}

Progress::Progress(std::FILE* out, bool is_terminal, const Budget& budget)
    : out_(out), is_terminal_(is_terminal), start_(std::chrono::steady_clock::now()) {
  state_.budget = budget;
}

void Progress::announce(const std::string& text) {
  clear_bar();
  fmt::print(out_, "{}\n", text);
  std::fflush(out_);
}

void Progress::observe(const Evaluation& evaluation) {
  ++num_seen_;
  ++state_.counts[evaluation.status];
  if (evaluation.status != Status::ConstraintViolated) {
    ++state_.spent.num_evaluations;
  }
  bool better = false;
  if (evaluation.status == Status::Ok) {
    const auto time_ns = median_time_ns(evaluation);
    better = time_ns && (!state_.incumbent_ns || *time_ns < *state_.incumbent_ns);
    if (better) {
      state_.incumbent_ns = time_ns;
    }
  }
  draw(better || num_seen_ % kLineEvery == 0);
}

void Progress::finish() {
  clear_bar();
  if (num_seen_ > 0) {
    state_.spent.time = std::chrono::steady_clock::now() - start_;
    fmt::print(out_, "{}\n", progress_line(state_));
  }
  std::fflush(out_);
}

void Progress::draw(bool worth_a_line) {
  state_.spent.time = std::chrono::steady_clock::now() - start_;
  if (is_terminal_) {
    // Back to the first column and erase, so that a shorter line leaves nothing behind.
    fmt::print(out_, "\r\x1b[2K{}", progress_line(state_));
    has_bar_ = true;
  } else if (worth_a_line) {
    fmt::print(out_, "{}\n", progress_line(state_));
  }
  std::fflush(out_);
}

void Progress::clear_bar() {
  if (has_bar_) {
    fmt::print(out_, "\r\x1b[2K");
    has_bar_ = false;
  }
}

}  // namespace whet
