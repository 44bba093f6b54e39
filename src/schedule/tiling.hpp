#pragma once

#include <optional>
#include <string>

#include "schedule/configuration.hpp"
#include "schedule/device_limits.hpp"
#include "schedule/schedule.hpp"
#include "schedule/search_space.hpp"
#include "schedule/tasks.hpp"

namespace whet {

/// A knob's value for a task: the child knob "<task>/<name>" if the configuration has it, else the
/// global one. Throws InternalError if neither is there: configurations are completed first.
std::string knob(
    const Configuration& configuration, const std::string& task, const std::string& name
);
std::int64_t int_knob(
    const Configuration& configuration, const std::string& task, const std::string& name
);
bool flag_knob(const Configuration& configuration, const std::string& name);

/// Merges neighbouring dimensions that every access of the task steps through like one, so that
/// emitted loops have as few indices as possible. Outer and reduced dimensions stay apart.
void collapse_dimensions(Task& task);

/// Cuts long sums into partial sums that a second task adds, so that many blocks share them.
void split_reductions(TaskGraph& graph, std::int64_t blocks, std::int64_t threads, Target target);

/// Tile sizes and counts of every task, whose team is known, or the constraint that a product's
/// tile breaks.
std::optional<ConstraintViolation> choose_tiles(
    const Configuration& configuration, const DeviceLimits& limits, Schedule& schedule
);

/// Why a product of a CUDA target is not for tensor cores; empty if it is.
std::string why_not_mma(const Configuration& configuration, const Task& task);

/// How many along m and n: see share_tile.
struct WarpGrid {
  std::int64_t m = 1;
  std::int64_t n = 1;
};
/// How a team of `threads` shares a tile: for tensor cores the warps of a split-K group, else the
/// elements that a thread holds. Nothing if there is no even share; of direct tiles, warps or
/// threads may be left over.
std::optional<WarpGrid> share_tile(const GemmTiling& tiling, std::int64_t threads);

/// Sums that each thread of a team of `threads` holds of a tile, or nothing if there is no even
/// share.
std::optional<std::int64_t> accumulators(const GemmTiling& tiling, std::int64_t threads);

/// A thread's share of a multiprocessor's registers.
std::int64_t registers_of_thread(const Schedule& schedule);

/// Registers for operands that are under way to a thread's direct product.
std::int64_t operand_words(const Schedule& schedule);

/// Tiles of a Reduce whose outputs a tile and splits are known.
std::int64_t num_reduce_tiles(const Task& task);

/// K of the panels that a product of the CPU target works on at a time.
constexpr std::int64_t kCpuPanelDepth = 128;
/// Elements of the widest strip of columns of such a panel: four of the widest vectors.
constexpr std::int64_t kCpuPanelWidth = 64;

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace whet
