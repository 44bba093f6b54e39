#include "schedule/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "schedule/k_lanes.hpp"

namespace whet {
namespace {

using Index = std::size_t;

std::int64_t next_power_of_two(std::int64_t n) {
  std::int64_t power = 1;
  while (power < n) {
    power *= 2;
  }
  return power;
}

/// Warps of a K group: they cover the tile in 16x8 fragments.
std::optional<WarpGrid> warp_grid(const GemmTiling& tiling, std::int64_t threads) {
  std::int64_t warps = threads / 32 / tiling.split_k;
  if (tiling.tile_m % 16 != 0 || tiling.tile_n % 8 != 0 ||
      (!tiling.direct && warps * 32 * tiling.split_k != threads)) {
    return std::nullopt;
  }
  // The squarest grid reads the least.
  for (; warps > 0; warps = tiling.direct ? warps / 2 : 0) {
    WarpGrid best{0, 0};
    for (std::int64_t m = 1; m <= warps; m *= 2) {
      const std::int64_t n = warps / m;
      if (m * n != warps || (tiling.tile_m / 16) % m != 0 || (tiling.tile_n / 8) % n != 0) {
        continue;
      }
      const std::int64_t cost = tiling.tile_m / m + tiling.tile_n / n;
      if (best.m == 0 || cost < tiling.tile_m / best.m + tiling.tile_n / best.n) {
        best = {m, n};
      }
    }
    if (best.m != 0) {
      return best;
    }
  }
  return std::nullopt;
}

/// Elements of a thread of the simt engine.
std::optional<WarpGrid> thread_tile(const GemmTiling& tiling, std::int64_t threads) {
  const std::int64_t elements = tiling.tile_m * tiling.tile_n;
  std::int64_t group = threads / (tiling.split_k * tiling.k_lanes);
  if (!tiling.direct && (group * tiling.split_k != threads || elements % group != 0 ||
                         tiling.tile_k % tiling.split_k != 0)) {
    return std::nullopt;
  }
  group = std::min(group, elements);
  const std::int64_t share = elements / group;
  const auto is_even = [&](std::int64_t m, std::int64_t n) {
    return m * n == share && tiling.tile_m % m == 0 && tiling.tile_n % n == 0;
  };
  // The squarest share that is no higher than wide, else a higher one: the tile may be a column.
  std::optional<WarpGrid> higher;
  for (std::int64_t m = share; m >= 1; m /= 2) {
    const std::int64_t n = share / m;
    if (is_even(m, n) && m > n) {
      higher = WarpGrid{m, n};
    } else if (is_even(m, n) && m <= 8) {
      return WarpGrid{m, n};
    }
  }
  return higher;
}

// Beside them a thread holds operands, and what the epilogue reads: more would spill.
constexpr std::int64_t kMaxAccumulators = 64;

/// Halves the longer side of a direct tile that has more than its least share, or the other: ragged
/// sides become the smallest that two still cover. Returns whether one was left to halve.
bool halve_tile(GemmTiling& tiling) {
  const auto halve = [](std::int64_t& side, std::int64_t least) {
    const std::int64_t shares = side / least;
    if (shares < 2) {
      return false;
    }
    side = ceil_div(shares, 2) * least;
    return true;
  };
  const auto halve_m = [&] { return halve(tiling.tile_m, tiling.engine == Engine::Mma ? 16 : 4); };
  const auto halve_n = [&] { return halve(tiling.tile_n, 8); };
  return tiling.tile_n >= tiling.tile_m ? halve_n() || halve_m() : halve_m() || halve_n();
}

/// A direct tile is no larger than its product, and is halved while that gives idle blocks work;
/// its K groups are no more than there is K for, nor than leave a warp 32 x 32 sums; warps that
/// would be idle become further K groups.
void fit_direct_tile(Task& task, std::int64_t blocks, std::int64_t threads) {
  GemmTiling& tiling = task.gemm->tiling;
  const bool mma = tiling.engine == Engine::Mma;
  const std::int64_t m = task.domain[0];
  const std::int64_t n = task.domain[1];
  tiling.tile_m = std::min(tiling.tile_m, mma ? ceil_div(m, 16) * 16 : next_power_of_two(m));
  tiling.tile_n = std::min(tiling.tile_n, mma ? ceil_div(n, 8) * 8 : next_power_of_two(n));
  while (2 * ceil_div(m, tiling.tile_m) * ceil_div(n, tiling.tile_n) <= blocks && halve_tile(tiling)
  ) {
  }
  // A group of the simt engine gets four sums in a row at least.
  const std::int64_t steps = next_power_of_two(ceil_div(task.gemm->k, mma ? 16 : 4));
  const std::int64_t width = mma ? threads / 32 : threads;
  std::int64_t groups = std::min<std::int64_t>({tiling.split_k, steps, width});
  tiling.split_k = static_cast<int>(groups);
  constexpr std::int64_t kMaxSumsOfAGroup = 32;
  while (groups > 1 && accumulators(tiling, threads).value_or(0) > kMaxSumsOfAGroup) {
    groups /= 2;
    tiling.split_k = static_cast<int>(groups);
  }
  const std::optional<WarpGrid> grid = share_tile(tiling, threads);
  if (!grid) {
    return;
  }
  const std::int64_t of_a_group =
      mma ? grid->m * grid->n : tiling.tile_m / grid->m * (tiling.tile_n / grid->n);
  while (groups * 2 <= std::min<std::int64_t>(steps, mma ? 16 : 32) &&
         groups * 2 * of_a_group <= width) {
    groups *= 2;
  }
  tiling.split_k = static_cast<int>(groups);
}

/// Gives parts of a direct tile's K by plain fma to lanes in the place of groups: unless that is
/// asked for, only where the tile has fewer elements than the team has threads, for else each lane
/// has many sums to shuffle.
void share_k_with_lanes(
    const Configuration& configuration, const Schedule& schedule, Task& task, std::int64_t threads
) {
  GemmTiling& tiling = task.gemm->tiling;
  const std::string wanted = knob(configuration, task.name, "k_lanes");
  const bool has_few = tiling.tile_m * tiling.tile_n < threads;
  if (tiling.engine == Engine::Mma || wanted == "off" || (wanted == "fit" && !has_few)) {
    return;
  }
  const std::int64_t parts = tiling.split_k;
  const std::int64_t lanes = wanted == "most" ? std::min(parts, kMaxKLanes)
                                              : fit_k_lanes(schedule, task, parts, kMaxKLanes);
  tiling.k_lanes = static_cast<int>(lanes);
  tiling.split_k = static_cast<int>(parts / lanes);
}

/// A team takes a direct tile in as many parts as its registers ask for.
void fit_registers(GemmTiling& tiling, std::int64_t threads) {
  while (accumulators(tiling, threads).value_or(0) > kMaxAccumulators && halve_tile(tiling)) {
  }
}

/// A tile of the CPU target is no larger than its product, and is halved while threads would wait
/// for a fifth of the time that the tiles take.
void fit_host_tile(Task& task, std::int64_t blocks) {
  GemmTiling& tiling = task.gemm->tiling;
  constexpr std::int64_t kMinM = 8;   // a register tile's rows
  constexpr std::int64_t kMinN = 16;  // the widest vector
  const std::int64_t m = task.domain[0];
  const std::int64_t n = task.domain[1];
  tiling.tile_m = std::clamp(next_power_of_two(m), kMinM, tiling.tile_m);
  tiling.tile_n = std::clamp(next_power_of_two(n), kMinN, tiling.tile_n);
  const auto is_uneven = [&] {
    const std::int64_t tiles = ceil_div(m, tiling.tile_m) * ceil_div(n, tiling.tile_n);
    return 4 * ceil_div(tiles, blocks) * blocks > 5 * tiles;
  };
  while (is_uneven() && (tiling.tile_m > kMinM || tiling.tile_n > kMinN)) {
    const bool halves_n =
        tiling.tile_n > kMinN && (tiling.tile_n >= tiling.tile_m || tiling.tile_m == kMinM);
    std::int64_t& side = halves_n ? tiling.tile_n : tiling.tile_m;
    side /= 2;
  }
}

std::optional<ConstraintViolation> tile_gemm(
    const Configuration& configuration,
    const DeviceLimits& limits,
    const Schedule& schedule,
    std::int64_t blocks,
    Task& task
) {
  const std::int64_t threads = num_threads(task);
  GemmTiling& tiling = task.gemm->tiling;
  const auto number = [&](const char* name) { return int_knob(configuration, task.name, name); };
  tiling.tile_m = number("tile_m");
  tiling.tile_n = number("tile_n");
  const auto count_tiles = [&] {
    task.num_tiles =
        ceil_div(task.domain[0], tiling.tile_m) * ceil_div(task.domain[1], tiling.tile_n);
  };
  if (limits.target == Target::Cpu) {
    fit_host_tile(task, blocks);
    count_tiles();
    return std::nullopt;
  }
  count_tiles();
  tiling.tile_k = number("tile_k");
  tiling.stages = static_cast<int>(number("stages"));
  tiling.split_k = static_cast<int>(number("split_k"));
  tiling.skew = static_cast<int>(number("skew"));
  const bool mma = why_not_mma(configuration, task).empty();
  tiling.engine = mma ? Engine::Mma : Engine::Simt;
  tiling.direct = knob(configuration, task.name, "operands") == "direct";
  if (tiling.direct) {
    fit_direct_tile(task, blocks, threads);
    share_k_with_lanes(configuration, schedule, task, threads);
    fit_registers(tiling, threads);
    count_tiles();
  } else {
    // A K group has a step of 16 of a stage at least, and its threads have registers for its sums.
    const int most = static_cast<int>(mma ? tiling.tile_k / 16 : tiling.tile_k);
    tiling.split_k = std::min(tiling.split_k, most);
    while (tiling.split_k > 1 && accumulators(tiling, threads).value_or(0) > kMaxAccumulators) {
      tiling.split_k /= 2;
    }
  }
  const std::optional<std::int64_t> sums = accumulators(tiling, threads);
  if (!sums) {
    return ConstraintViolation{
        "tile_threads",
        fmt::format(
            "{}: a tile of {} x {} has no even share for {} threads in {} K groups",
            task.name,
            tiling.tile_m,
            tiling.tile_n,
            threads,
            tiling.split_k
        )};
  }
  if (*sums > kMaxAccumulators) {
    return ConstraintViolation{
        "accumulators",
        fmt::format(
            "{}: a tile of {} x {} gives each thread {} accumulators, more than {}",
            task.name,
            tiling.tile_m,
            tiling.tile_n,
            *sums,
            kMaxAccumulators
        )};
  }
  return std::nullopt;
}

void tile_map(Task& task, std::int64_t blocks, Target target) {
  const std::int64_t threads = num_threads(task);
  const std::int64_t elements = num_elements(task.domain);
  if (target == Target::Cpu) {
    // Whole rows of the last dimension, about 16 K elements, but a tile a thread if there is work.
    const std::int64_t row = task.domain.size() > 1 ? task.domain.back() : 1;
    const std::int64_t wanted = std::clamp<std::int64_t>(ceil_div(elements, blocks), 1024, 16384);
    task.tile_elements = std::max<std::int64_t>(wanted / std::max<std::int64_t>(row, 1), 1) * row;
  } else {
    // Up to four elements a thread, fewer where that leaves blocks without work.
    const std::int64_t wanted = ceil_div(ceil_div(elements, blocks), threads);
    task.tile_elements = threads * std::clamp<std::int64_t>(wanted, 1, 4);
  }
  task.num_tiles = elements == 0 ? 0 : ceil_div(elements, task.tile_elements);
}

}  // namespace

std::string knob(
    const Configuration& configuration, const std::string& task, const std::string& name
) {
  auto found = configuration.values.find(task + "/" + name);
  if (found == configuration.values.end()) {
    found = configuration.values.find(name);
  }
  WHET_CHECK(found != configuration.values.end(), "the configuration has no knob {}", name);
  return found->second;
}

std::int64_t int_knob(
    const Configuration& configuration, const std::string& task, const std::string& name
) {
  const std::string text = knob(configuration, task, name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  WHET_CHECK(error == std::errc{} && end == text.data() + text.size(), "{}={}", name, text);
  return value;
}

bool flag_knob(const Configuration& configuration, const std::string& name) {
  return knob(configuration, "", name) == "on";
}

std::string why_not_mma(const Configuration& configuration, const Task& task) {
  if (task.gemm->dtype == DType::F32) {
    return "tensor cores multiply no f32 without TF32, which rounds it";
  }
  const std::string engine = knob(configuration, task.name, "engine");
  return engine == "mma" ? "" : "engine = " + engine;
}

std::optional<WarpGrid> share_tile(const GemmTiling& tiling, std::int64_t threads) {
  return tiling.engine == Engine::Mma ? warp_grid(tiling, threads) : thread_tile(tiling, threads);
}

std::optional<std::int64_t> accumulators(const GemmTiling& tiling, std::int64_t threads) {
  const std::optional<WarpGrid> grid = share_tile(tiling, threads);
  if (!grid) {
    return std::nullopt;
  }
  return tiling.engine == Engine::Mma ? tiling.tile_m * tiling.tile_n / (grid->m * grid->n * 32)
                                      : grid->m * grid->n;
}

std::int64_t registers_of_thread(const Schedule& schedule) {
  constexpr std::int64_t kRegisters = 65536;
  return std::min<std::int64_t>(
      kRegisters / (schedule.threads * std::int64_t{schedule.blocks_per_sm}), 255
  );
}

std::int64_t operand_words(const Schedule& schedule) {
  const std::int64_t words = registers_of_thread(schedule) > 128 ? 96 : 64;
  return std::max<std::int64_t>(words - schedule.state_words, 32);
}

std::int64_t num_reduce_tiles(const Task& task) {
  const auto outer = static_cast<long>(task.domain.size()) - task.reduce->num_reduced_dims;
  const std::int64_t outputs = num_elements({task.domain.begin(), task.domain.begin() + outer});
  return ceil_div(outputs, task.reduce->outputs_per_tile) * task.reduce->splits;
}

std::optional<ConstraintViolation> choose_tiles(
    const Configuration& configuration, const DeviceLimits& limits, Schedule& schedule
) {
  for (Phase& phase : schedule.phases) {
    const int blocks = sharing_blocks(schedule, phase);
    for (Task& task : phase.tasks) {
      switch (task.kind) {
        case Task::Kind::Gemm:
          if (auto violation = tile_gemm(configuration, limits, schedule, blocks, task)) {
            return violation;
          }
          break;
        case Task::Kind::Reduce:
          task.num_tiles = num_reduce_tiles(task);
          break;
        case Task::Kind::Map:
          tile_map(task, blocks, limits.target);
          break;
      }
    }
  }
  return std::nullopt;
}

}  // namespace whet
