#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace whet {

/// How much a search may spend: evaluations or time, whichever is given.
struct Budget {
  /// Candidates that were at least compiled; one that a constraint refuses costs nothing.
  std::optional<std::int64_t> num_evaluations;
  std::optional<std::chrono::seconds> time;

  bool operator==(const Budget&) const = default;
};

/// "200", "90s", "5m", "2h". Throws UserError for anything else, zero included.
Budget parse_budget(const std::string& text);
/// The spelling that parse_budget reads.
std::string to_text(const Budget& budget);

/// What a search has spent.
struct Spent {
  std::int64_t num_evaluations = 0;
  std::chrono::steady_clock::duration time{};
};

bool is_exhausted(const Budget& budget, const Spent& spent);
/// Part of the budget that is spent, from 0 to 1.
double fraction_spent(const Budget& budget, const Spent& spent);

}  // namespace whet
