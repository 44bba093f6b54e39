#include "schedule/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"

namespace whet {
namespace {

using Index = std::size_t;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::optional<ConstraintViolation> tile_gemm(
    const Configuration& configuration, const DeviceLimits& limits, std::int64_t threads, Task& task
) {
  GemmTiling& tiling = task.gemm->tiling;
  const auto number = [&](const char* name) { return int_knob(configuration, task.name, name); };
  tiling.tile_m = number("tile_m");
  tiling.tile_n = number("tile_n");
  task.num_tiles =
      ceil_div(task.domain[0], tiling.tile_m) * ceil_div(task.domain[1], tiling.tile_n);
  if (limits.target == Target::Cpu) {
    return std::nullopt;
  }
  tiling.tile_k = number("tile_k");
  tiling.stages = static_cast<int>(number("stages"));
  tiling.split_k = static_cast<int>(number("split_k"));
  tiling.skew = static_cast<int>(number("skew"));
  // f32 has no tensor-core path without TF32, which a workload would have to allow.
  const bool mma =
      knob(configuration, task.name, "engine") == "mma" && task.gemm->dtype != DType::F32;
  tiling.engine = mma ? Engine::Mma : Engine::Simt;
  if (mma && tiling.tile_k % (16 * tiling.split_k) != 0) {
    return ConstraintViolation{
        "tile_k_split",
        fmt::format(
            "{}: tile_k is {}, but split_k {} needs a multiple of {}",
            task.name,
            tiling.tile_k,
            tiling.split_k,
            16 * tiling.split_k
        )};
  }
  if (mma ? !warp_grid(tiling, threads) : !thread_tile(tiling, threads)) {
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
  return std::nullopt;
}

void tile_reduce(Task& task) {
  const Index outer = task.domain.size() - Index(task.reduce->num_reduced_dims);
  std::int64_t outputs = 1;
  for (Index d = 0; d < outer; ++d) {
    outputs *= task.domain[d];
  }
  task.num_tiles = ceil_div(outputs, task.reduce->outputs_per_tile) * task.reduce->splits;
}

void tile_map(Task& task, std::int64_t blocks, std::int64_t threads, Target target) {
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

std::optional<WarpGrid> warp_grid(const GemmTiling& tiling, std::int64_t threads) {
  const std::int64_t warps = threads / 32 / tiling.split_k;
  if (warps * 32 * tiling.split_k != threads || tiling.tile_m % 16 != 0 || tiling.tile_n % 8 != 0) {
    return std::nullopt;
  }
  WarpGrid best{0, 0};
  // The squarest grid reads the least from shared memory.
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
  return best.m == 0 ? std::nullopt : std::optional<WarpGrid>(best);
}

std::optional<WarpGrid> thread_tile(const GemmTiling& tiling, std::int64_t threads) {
  const std::int64_t group = threads / tiling.split_k;
  const std::int64_t elements = tiling.tile_m * tiling.tile_n;
  if (group * tiling.split_k != threads || elements % group != 0 ||
      tiling.tile_k % tiling.split_k) {
    return std::nullopt;
  }
  const std::int64_t share = elements / group;
  for (std::int64_t m = 8; m >= 1; m /= 2) {
    const std::int64_t n = share / m;
    if (m <= n && m * n == share && tiling.tile_m % m == 0 && tiling.tile_n % n == 0) {
      return WarpGrid{m, n};
    }
  }
  return std::nullopt;
}

std::optional<ConstraintViolation> choose_tiles(
    const Configuration& configuration,
    const DeviceLimits& limits,
    std::int64_t blocks,
    std::int64_t threads,
    std::vector<Task>& tasks
) {
  for (Task& task : tasks) {
    switch (task.kind) {
      case Task::Kind::Gemm:
        if (auto violation = tile_gemm(configuration, limits, threads, task)) {
          return violation;
        }
        break;
      case Task::Kind::Reduce:
        tile_reduce(task);
        break;
      case Task::Kind::Map:
        tile_map(task, blocks, threads, limits.target);
        break;
    }
  }
  return std::nullopt;
}

}  // namespace whet
