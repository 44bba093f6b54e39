#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "jit/executor.hpp"

namespace whet {

/// The threads of a grid that can go on, and which of them does. Forward and reverse let one block,
/// and one warp in it, run as far ahead of the others as barriers allow; random does so with a
/// favourite that it changes now and then. What depends on the order is a race.
class ReadyThreads {
 public:
  explicit ReadyThreads(const EmulationOptions& options);

  /// Empties the set, for threads 0 .. num_blocks * warps_a_block * 32 - 1 of a grid.
  void reset(int num_blocks, int warps_a_block);
  void add(int thread);
  /// Takes out the thread that goes on; nothing if there is none.
  std::optional<int> take();
  /// A draw of the order's own randomness, for other choices of the hardware.
  bool flip_coin() { return (random_() & 1u) != 0u; }

 private:
  std::optional<int> pick_warp();
  std::optional<int> pick_random_warp();
  int random_below(int count);
  int count_ready(int first_warp, int end_warp) const;
  std::optional<int> nth_ready(int first_warp, int end_warp, int n) const;

  EmulationOptions::Order order_;
  std::mt19937_64 random_;
  int warps_a_block_ = 1;
  std::vector<std::uint32_t> lanes_;  ///< of each warp of the grid, a bit a lane
  int favourite_ = 0;                 ///< a warp
};

}  // namespace whet
