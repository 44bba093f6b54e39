#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "jit/emulation_memory.hpp"

namespace whet {

/// One access of a thread.
struct EmulatedAccess {
  const void* address = nullptr;
  std::size_t bytes = 0;
  std::size_t alignment = 1;  ///< that the hardware requires
};

/// Checks the accesses of emulated threads: that each is aligned and lies in memory that the kernel
/// may touch, and that barriers order it with what other threads do to the same bytes. A race shows
/// in the first run, whatever the order of threads. Accesses of one byte are not tested for races.
///
/// Two accesses of different threads are ordered when, between them, the warp, the team, the block
/// or the grid that holds both threads met at a barrier. Every meeting takes the next tick of a
/// clock, so that the tick of an access and that of the last meeting of each group decide.
class AccessChecker {
 public:
  /// Memory that all threads may read: what `global` allocates; nothing is refused if it is null.
  void begin_launch(const EmulatedMemory* global, int num_blocks, int threads_a_block);
  /// Memory that one block may access.
  void add_shared(int block, const EmulatedRegion& region);
  /// Memory without checks: arguments.
  void add_exempt(const void* begin, std::size_t bytes);

  void warp_met(int warp) { warp_ticks_[static_cast<std::size_t>(warp)] = ++tick_; }
  void team_met(int first_warp, int num_warps);
  void block_met(int block) { block_ticks_[static_cast<std::size_t>(block)] = ++tick_; }
  void grid_met() { grid_tick_ = ++tick_; }

  /// What is wrong with an access of `thread` (of the grid); nothing if it is fine.
  using Complaint = std::optional<std::string>;
  Complaint read(int thread, const EmulatedAccess& access);
  Complaint write(int thread, const EmulatedAccess& access);
  /// A write that goes on until end_write: no access may fall in between.
  Complaint begin_write(int thread, const EmulatedAccess& access);
  void end_write(int thread, const EmulatedAccess& access);

 private:
  /// The last meeting of a team that a warp was in.
  struct TeamMeeting {
    int first_warp = 0;
    int num_warps = 0;
    std::uint32_t tick = 0;
  };
  /// Who accessed a cell, and when.
  struct Mark {
    std::uint32_t thread = 0;  ///< plus one; 0: nobody
    std::uint32_t tick = 0;
  };
  /// Two bytes of memory.
  struct Cell {
    Mark write;
    Mark reads[2];
  };
  struct Shadow {
    EmulatedRegion region;
    int block = -1;  ///< that may access it; -1: all
    std::vector<Cell> cells;
  };

  Shadow* find_shadow(const void* address);
  Complaint refuse(int thread, const EmulatedAccess& access, const Shadow* shadow) const;
  std::span<Cell> cells(Shadow* shadow, const EmulatedAccess& access) const;
  Complaint write_cells(int thread, const EmulatedAccess& access, std::uint32_t tick);
  bool is_exempt(const void* address) const;
  bool is_ordered(const Mark& mark, int thread) const;
  void keep_read(Cell& cell, int thread) const;
  std::string describe(int thread) const;
  std::string describe_race(
      const Cell& cell, int thread, const char* does, const Mark& other, const char* did
  ) const;

  const EmulatedMemory* global_ = nullptr;
  int threads_a_block_ = 1;
  std::uint32_t tick_ = 1;
  std::uint32_t grid_tick_ = 0;
  std::vector<std::uint32_t> block_ticks_;
  std::vector<std::uint32_t> warp_ticks_;
  std::vector<TeamMeeting> team_meetings_;           ///< by warp
  std::unordered_map<const char*, Shadow> shadows_;  ///< by region.begin
  Shadow* latest_ = nullptr;
  std::vector<EmulatedRegion> shared_;  ///< by block
  std::vector<EmulatedRegion> exempt_;
};

}  // namespace whet
