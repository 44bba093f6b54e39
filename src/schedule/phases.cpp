#include "schedule/phases.hpp"

#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "schedule/reads.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// For each phase the number of edges between blocks in front of it: what has the same number is
/// not ordered from one block to another.
std::vector<int> count_wide_edges(const std::vector<Phase>& phases) {
  std::vector<int> counts;
  int count = 0;
  for (Index p = 0; p < phases.size(); ++p) {
    count += p > 0 && !phases[p - 1].is_repeated ? 1 : 0;
    counts.push_back(count);
  }
  return counts;
}

}  // namespace

std::int64_t work_of(const Task& task) {
  return num_elements(task.domain) * (task.gemm ? std::max<std::int64_t>(task.gemm->k, 1) : 1);
}

std::vector<Phase> place_in_phases(TaskGraph& graph) {
  std::vector<int> level(graph.tasks.size(), -1);
  std::vector<Phase> phases;
  for (Index placed = 0; placed < graph.tasks.size();) {
    bool moved = false;
    for (Index t = 0; t < graph.tasks.size(); ++t) {
      if (level[t] >= 0) {
        continue;
      }
      int earliest = 0;
      bool ready = true;
      for (const int before : graph.after[t]) {
        ready = ready && level[Index(before)] >= 0;
        earliest = std::max(earliest, level[Index(before)] + 1);
      }
      if (!ready) {
        continue;
      }
      level[t] = earliest;
      moved = true;
      ++placed;
    }
    WHET_CHECK(moved, "tasks wait for each other in a circle");
  }
  for (Index t = 0; t < graph.tasks.size(); ++t) {
    if (Index(level[t]) >= phases.size()) {
      phases.resize(Index(level[t]) + 1);
    }
    phases[Index(level[t])].tasks.push_back(std::move(graph.tasks[t]));
  }
  for (Phase& phase : phases) {
    // The longest tiles start first.
    std::ranges::stable_sort(phase.tasks, std::ranges::greater{}, work_of);
  }
  return phases;
}

void place_edges(Schedule& schedule) {
  const Edge in_block = schedule.threads > 1 ? Edge::Block : Edge::None;
  const Edge edge = schedule.blocks == 1                       ? in_block
                    : schedule.partition == Partition::Cluster ? Edge::Cluster
                                                               : Edge::Grid;
  for (Index p = 1; p < schedule.phases.size(); ++p) {
    schedule.phases[p].edge_before = schedule.phases[p - 1].is_repeated ? in_block : edge;
  }
  schedule.step_edge = edge;
}

std::int64_t place_in_arena(
    const std::vector<Phase>& phases, Storage storage, std::vector<Buffer>& buffers
) {
  struct Lifetime {
    int first = -1;
    int last = -1;
  };
  std::vector<Lifetime> lifetimes(buffers.size());
  const auto touch = [&](int buffer, int phase) {
    Lifetime& lifetime = lifetimes[Index(buffer)];
    lifetime.first = lifetime.first < 0 ? phase : std::min(lifetime.first, phase);
    lifetime.last = std::max(lifetime.last, phase);
  };
  const std::vector<int> times = count_wide_edges(phases);
  for (Index p = 0; p < phases.size(); ++p) {
    for (const Task& task : phases[p].tasks) {
      const int phase = times[p];
      for_each_read(task, [&](const Access& access, ValueId, bool) {
        touch(access.buffer, phase);
      });
      for (const Store& store : task.stores) {
        touch(store.access.buffer, phase);
      }
    }
  }
  const auto bytes_of = [&](Index b) {
    return in_arena(buffers[b].num_elements * dtype_bytes(buffers[b].dtype));
  };
  std::vector<Index> order;
  for (Index b = 0; b < buffers.size(); ++b) {
    if (buffers[b].storage == storage && lifetimes[b].first >= 0) {
      order.push_back(b);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return bytes_of(a) > bytes_of(b);
  });
  std::int64_t arena_bytes = 0;
  std::vector<Index> placed;
  for (const Index b : order) {
    std::int64_t offset = 0;
    bool moved = true;
    while (moved) {
      moved = false;
      for (const Index other : placed) {
        const bool alive_together = lifetimes[other].first <= lifetimes[b].last &&
                                    lifetimes[b].first <= lifetimes[other].last;
        const std::int64_t begin = buffers[other].offset_bytes;
        const std::int64_t end = begin + bytes_of(other);
        if (alive_together && offset < end && begin < offset + bytes_of(b)) {
          offset = end;
          moved = true;
        }
      }
    }
    buffers[b].offset_bytes = offset;
    arena_bytes = std::max(arena_bytes, offset + bytes_of(b));
    placed.push_back(b);
  }
  return arena_bytes;
}

}  // namespace whet
