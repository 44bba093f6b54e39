#include "base/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace whet {
namespace {

/// Levenshtein's distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view name, std::span<const std::string_view> candidates) {
  // No typing error is longer; the distance costs the product of the lengths, and a file may define
  // many long names.
  constexpr std::size_t kMaxBytes = 100;
  // Two, so that a pair of swapped letters counts as close.
  const std::size_t limit = name.size() <= 2 ? 1 : std::max<std::size_t>(2, name.size() / 3);
  std::string_view nearest;
  std::size_t distance = limit + 1;
  for (const std::string_view candidate : candidates) {
    if (name.size() > kMaxBytes || candidate.size() > kMaxBytes) {
      continue;
    }
    const std::size_t found = edit_distance(name, candidate);
    if (found < distance && found < candidate.size()) {
      distance = found;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest);
}

}  // namespace whet
