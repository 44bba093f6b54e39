#include "schedule/check_decisions.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "schedule/reads.hpp"

namespace whet {
namespace {

using Index = std::size_t;

std::int64_t stored_elements(const Task& task) {
  std::int64_t count = 1;
  const Index outer = task.domain.size() - (task.reduce ? Index(task.reduce->num_reduced_dims) : 0);
  for (Index d = 0; d < outer; ++d) {
    count *= task.domain[d];
  }
  return count * (task.reduce ? task.reduce->splits : 1);
}

std::int64_t covering(std::int64_t size, std::int64_t tile) {
  return tile > 0 ? (size + tile - 1) / tile : -1;
}

/// Tiles that cover a task's domain, from their sizes.
std::int64_t expected_tiles(const Task& task) {
  switch (task.kind) {
    case Task::Kind::Gemm:
      return covering(task.domain[0], task.gemm->tiling.tile_m) *
             covering(task.domain[1], task.gemm->tiling.tile_n);
    case Task::Kind::Reduce:
      return covering(stored_elements(task) / task.reduce->splits, task.reduce->outputs_per_tile) *
             task.reduce->splits;
    case Task::Kind::Map:
      break;
  }
  const std::int64_t elements = num_elements(task.domain);
  return elements == 0 ? 0 : covering(elements, task.tile_elements);
}

class DecisionCheck {
 public:
  DecisionCheck(const Program& program, const Schedule& schedule, Hazards& hazards)
      : program_(program), schedule_(schedule), hazards_(hazards) {}

  void run() {
    check_tiles();
    check_teams();
    check_coverage();
    check_held();
    check_repeated();
    check_prefetched();
  }

 private:
  void check_tiles() {
    for (const Phase& phase : schedule_.phases) {
      for (const Task& task : phase.tasks) {
        const std::int64_t expected = expected_tiles(task);
        if (task.num_tiles != expected) {
          hazards_.report("{} has {} tiles, expected {}", task.name, task.num_tiles, expected);
        }
      }
    }
  }

  /// Two tasks of a phase have the same warps, or no warp and no staging in common.
  void check_teams() {
    if (schedule_.target == Target::Cpu) {
      return;
    }
    for (const Phase& phase : schedule_.phases) {
      for (const Task& task : phase.tasks) {
        const std::int64_t end = task.scratch_offset_bytes + scratch_bytes(task, schedule_.target);
        if (task.num_warps < 1 || task.first_warp < 0 ||
            (task.first_warp + task.num_warps) * 32 > schedule_.threads) {
          hazards_.report("{} has no warps of its block", task.name);
        }
        if (end > schedule_.scratch_bytes) {
          hazards_.report(
              "{} stages {} bytes, there are {}", task.name, end, schedule_.scratch_bytes
          );
        }
        for (const Task& other : phase.tasks) {
          check_teams(task, other);
        }
      }
    }
  }

  void check_teams(const Task& a, const Task& b) {
    const bool one_team = a.first_warp == b.first_warp && a.num_warps == b.num_warps;
    if (one_team || a.first_warp > b.first_warp) {
      return;
    }
    if (a.first_warp + a.num_warps > b.first_warp) {
      hazards_.report("{} and {} share warps without being one team", a.name, b.name);
    }
    const std::int64_t a_end = a.scratch_offset_bytes + scratch_bytes(a, schedule_.target);
    const std::int64_t b_end = b.scratch_offset_bytes + scratch_bytes(b, schedule_.target);
    if (a.scratch_offset_bytes < b_end && b.scratch_offset_bytes < a_end) {
      hazards_.report("{} and {} stage in the same bytes side by side", a.name, b.name);
    }
  }

  /// Every store writes its value whole, inside its buffer.
  void check_coverage() {
    for (const Phase& phase : schedule_.phases) {
      for (const Task& task : phase.tasks) {
        for (const Store& store : task.stores) {
          const Buffer& buffer = schedule_.buffers[Index(store.access.buffer)];
          const bool named = Index(store.value) < program_.values.size();
          const std::int64_t expected =
              named ? num_elements(program_.value(store.value).shape) : buffer.num_elements;
          if (stored_elements(task) != expected) {
            hazards_.report(
                "{} writes {} elements of {} to {}, expected {}",
                task.name,
                stored_elements(task),
                hazards_.name_of(store.value),
                buffer.symbol,
                expected
            );
          }
          std::int64_t last = store.access.offset;
          for (Index d = 0; d < store.access.strides.size(); ++d) {
            const bool split =
                task.reduce && d + 1 == store.access.strides.size() && task.reduce->splits > 1;
            const std::int64_t size = split ? task.reduce->splits : task.domain[d];
            last += (size - 1) * store.access.strides[d];
          }
          if (expected > 0 && last >= buffer.num_elements) {
            hazards_.report(
                "{} writes element {} of {}, which has {}",
                task.name,
                last,
                buffer.symbol,
                buffer.num_elements
            );
          }
        }
      }
    }
  }

  /// Registers are seen by nobody but the threads of the task that updates what is in them.
  void check_held() {
    for (Index b = 0; b < schedule_.buffers.size(); ++b) {
      if (!schedule_.buffers[b].is_held) {
        continue;
      }
      std::set<const Task*> users;
      for (const Phase& phase : schedule_.phases) {
        for (const Task& task : phase.tasks) {
          for_each_read(task, [&](const Access& access, ValueId, bool elementwise) {
            if (access.buffer == static_cast<int>(b)) {
              users.insert(&task);
              check_held_read(task, access, elementwise);
            }
          });
          for (const Store& store : task.stores) {
            if (store.access.buffer == static_cast<int>(b)) {
              users.insert(&task);
            }
          }
        }
      }
      if (users.size() > 1) {
        hazards_.report(
            "{} is in registers, and {} tasks use it", schedule_.buffers[b].symbol, users.size()
        );
      }
    }
  }

  void check_held_read(const Task& task, const Access& access, bool elementwise) {
    const bool is_own =
        std::any_of(task.stores.begin(), task.stores.end(), [&](const Store& store) {
          return store.access == access;
        });
    if (!elementwise || !is_own || !task.gemm || !task.gemm->tiling.direct) {
      hazards_.report(
          "{} reads {} from registers that it does not write",
          task.name,
          hazards_.symbol(access.buffer)
      );
    }
  }

  /// Of several blocks, each has all of what it finds in its shared memory from itself.
  void check_repeated() {
    if (schedule_.blocks == 1) {
      return;
    }
    for (const Phase& phase : schedule_.phases) {
      for (const Task& task : phase.tasks) {
        for (const Store& store : task.stores) {
          const bool is_own = is_in_shared(schedule_.buffers[Index(store.access.buffer)]);
          if (is_own != phase.is_repeated) {
            hazards_.report(
                "{} writes {}, which {}, and {}",
                task.name,
                hazards_.symbol(store.access.buffer),
                is_own ? "each block has for itself" : "blocks share",
                phase.is_repeated ? "each block computes all of it" : "blocks share its tiles"
            );
          }
        }
      }
    }
  }

  /// Copies of inputs have their bytes for themselves, and the next step's are not this one's.
  void check_prefetched() {
    for (const PrefetchedInput& input : schedule_.prefetched) {
      const Buffer& copy = schedule_.buffers[Index(input.buffer)];
      const std::int64_t bytes = copy.num_elements * dtype_bytes(copy.dtype);
      if (schedule_.steps_per_launch > 1 && copy.slot_bytes < bytes) {
        hazards_.report("{} of a step lies in the bytes of the step before", copy.symbol);
      }
      for (Index b = 0; b < schedule_.buffers.size(); ++b) {
        if (static_cast<int>(b) != input.buffer &&
            hazards_.overlap(static_cast<int>(b), input.buffer)) {
          hazards_.report(
              "{} lies in the bytes of the input {}",
              hazards_.symbol(static_cast<int>(b)),
              copy.symbol
          );
        }
      }
      const auto argument = Index(schedule_.buffers[Index(input.input_buffer)].argument);
      if (input.is_stable && schedule_.counts_batches) {
        hazards_.report("{} comes before the launch before has counted", copy.symbol);
      }
      if (input.is_stable && !program_.inputs.at(argument).stable) {
        hazards_.report(
            "{} comes before the launch before has ended, and is no stable input", copy.symbol
        );
      }
    }
  }

  const Program& program_;
  const Schedule& schedule_;
  Hazards& hazards_;
};

}  // namespace

void check_decisions(const Program& program, const Schedule& schedule, Hazards& hazards) {
  DecisionCheck(program, schedule, hazards).run();
}

}  // namespace whet
