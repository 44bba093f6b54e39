#include "schedule/teams.hpp"

#include <algorithm>
#include <bit>

#include "schedule/tiling.hpp"

namespace whet {
namespace {

using Index = std::size_t;

/// A block's share of a task: what one warp would have to do, in steps of a tensor core; and how
/// many warps could share it.
struct Work {
  std::int64_t steps = 1;
  std::int64_t most_warps = 1;
};

Work work_of_gemm(const Task& task, std::int64_t blocks) {
  constexpr std::int64_t kEpilogueSteps = 4;
  const std::int64_t fragments =
      ceil_div(ceil_div(task.domain[0], 16) * ceil_div(task.domain[1], 8), blocks);
  const std::int64_t k_steps = ceil_div(task.gemm->k, 16);
  return {fragments * (k_steps + kEpilogueSteps), fragments * k_steps};
}

/// A step is 32 terms or elements.
Work work_of(const Task& task, std::int64_t blocks) {
  if (task.gemm) {
    return work_of_gemm(task, blocks);
  }
  std::int64_t rounds = ceil_div(num_elements(task.domain), 32);
  if (task.reduce && task.reduce->outputs_per_tile <= 32) {
    // A tile is one block's, so no more blocks than tiles share the sum.
    const std::int64_t tiles = num_reduce_tiles(task);
    rounds = ceil_div(tiles, blocks) * ceil_div(rounds, std::max<std::int64_t>(tiles, 1));
  } else {
    rounds = ceil_div(rounds, blocks);
  }
  return {rounds, rounds};
}

/// Warps of each task: one, doubled for whichever task has the most left for each of its warps.
std::vector<int> share_warps(const std::vector<Task>& tasks, int num_warps, std::int64_t blocks) {
  std::vector<Work> works;
  for (const Task& task : tasks) {
    works.push_back(work_of(task, blocks));
  }
  std::vector<int> shares(tasks.size(), 1);
  int left = num_warps - static_cast<int>(tasks.size());
  while (true) {
    Index next = tasks.size();
    std::int64_t longest = 0;
    for (Index t = 0; t < tasks.size(); ++t) {
      const Work& work = works[t];
      if (shares[t] <= left && 2 * shares[t] <= work.most_warps &&
          work.steps / shares[t] > longest) {
        longest = work.steps / shares[t];
        next = t;
      }
    }
    if (next == tasks.size()) {
      return shares;
    }
    left -= shares[next];
    shares[next] *= 2;
  }
}

}  // namespace

void assign_teams(const Configuration& configuration, Schedule& schedule) {
  if (schedule.target == Target::Cpu) {
    return;
  }
  const int num_warps = schedule.threads / 32;
  // A team is a power of two of warps, also where it is all that a phase has.
  const auto alone = static_cast<int>(std::bit_floor(static_cast<unsigned>(num_warps)));
  const bool side_by_side = flag_knob(configuration, "teams");
  const auto is_staged = [&](const Task& task) {
    return task.gemm && knob(configuration, task.name, "operands") == "staged";
  };
  for (Phase& phase : schedule.phases) {
    const bool shares = side_by_side && phase.tasks.size() > 1 &&
                        phase.tasks.size() <= static_cast<Index>(num_warps) &&
                        std::none_of(phase.tasks.begin(), phase.tasks.end(), is_staged);
    const std::vector<int> warps =
        shares ? share_warps(phase.tasks, num_warps, sharing_blocks(schedule, phase))
               : std::vector<int>(phase.tasks.size(), alone);
    int first = 0;
    for (Index t = 0; t < phase.tasks.size(); ++t) {
      Task& task = phase.tasks[t];
      task.first_warp = first;
      task.num_warps = warps[t];
      first += shares ? warps[t] : 0;
      // A sum so short that a thread has an output: as many outputs as the team has threads.
      if (task.reduce && task.reduce->outputs_per_tile == schedule.threads) {
        task.reduce->outputs_per_tile = num_threads(task);
      }
    }
  }
}

void place_scratch(Schedule& schedule) {
  for (Phase& phase : schedule.phases) {
    std::int64_t end = 0;
    for (Task& task : phase.tasks) {
      const bool is_alone = task.first_warp == 0;  // or follows on a task of its own team
      task.scratch_offset_bytes = is_alone ? 0 : end;
      end = std::max(end, task.scratch_offset_bytes + scratch_bytes(task, schedule.target));
    }
    schedule.scratch_bytes = std::max(schedule.scratch_bytes, end);
  }
}

}  // namespace whet
