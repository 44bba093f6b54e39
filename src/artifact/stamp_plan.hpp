#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "schedule/schedule.hpp"

namespace whet {

/// A phase as a profile build stamps it.
struct StampedPhase {
  std::vector<std::string> tasks;  ///< their canonical names
  Edge edge_before = Edge::None;   ///< from the phase before; None for the first
  bool waits_in_tiles = false;     ///< tiles begin before the edge in front, and wait for it
  bool has_teams = false;          ///< the stamps are those of the first team

  bool operator==(const StampedPhase&) const = default;
};

/// Where a profile build leaves its stamps in the workspace, behind everything else: 64-bit words,
/// those of block 0 first. A block has kHeaderWords (wall clock in ns, ticks, and processor at its
/// start of the step) and kPhaseWords ticks a phase: see Slot. A launch of several steps leaves the
/// stamps of its last. Ticks are cycles of the block's SM on a GPU, ns on the CPU target, and count
/// each other in the emulation.
struct StampPlan {
  static constexpr std::size_t kHeaderWords = 3;
  static constexpr std::size_t kPhaseWords = 4;
  /// The words of a phase. Wait and Ready are written only where a phase `waits_in_tiles`.
  enum class Slot { Begin, Wait, Ready, End };

  std::size_t offset_bytes = 0;  ///< in the workspace
  std::vector<StampedPhase> phases;

  std::size_t words_per_block() const { return kHeaderWords + kPhaseWords * phases.size(); }
  bool operator==(const StampPlan&) const = default;
};

Json to_json(const StampPlan& plan);
/// `where` stands for the object in messages.
StampPlan stamp_plan_from_json(const Json& json, const std::string& where);

/// "none", "block", "grid".
std::string_view edge_word(Edge edge);
std::optional<Edge> parse_edge(std::string_view word);

}  // namespace whet
