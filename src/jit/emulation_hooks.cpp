// The half of EmulationMachine that runs on fibers: what kernels call.
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "jit/emulation_machine.hpp"

namespace whet {

EmulationHooks EmulationMachine::make_hooks(EmulationMachine* machine) {
  EmulationHooks hooks = {};
  hooks.current = &machine->place_;
  hooks.machine = machine;
  hooks.meet = [](void* self, EmulatedScope scope, const char* what, const void* site) {
    static_cast<EmulationMachine*>(self)->meet(scope, what, site);
  };
  hooks.meet_team = [](void* self, int first_warp, int num_warps, const char* what, const void* site
                    ) {
    static_cast<EmulationMachine*>(self)->meet_team(first_warp, num_warps, what, site);
  };
  hooks.exchange = [](void* self, const char* what, const unsigned* words, int num_words) {
    return static_cast<EmulationMachine*>(self)->exchange(what, words, num_words);
  };
  hooks.grid_barrier =
      [](void* self, unsigned* control, unsigned blocks, unsigned place, unsigned, const void* site
      ) {
        auto* machine = static_cast<EmulationMachine*>(self);
        return machine->grid_barrier(control, blocks, place, site) ? 1 : 0;
      };
  hooks.poll = [](void* self, const unsigned* word) {
    static_cast<EmulationMachine*>(self)->poll(word);
  };
  hooks.async_copy = [](void* self, void* to, const void* from, int bytes, int valid) {
    static_cast<EmulationMachine*>(self)->async_copy(
        {.to = to, .from = valid != 0 ? from : nullptr, .bytes = static_cast<std::size_t>(bytes)}
    );
  };
  hooks.async_commit = [](void* self) { static_cast<EmulationMachine*>(self)->async_commit(); };
  hooks.async_wait = [](void* self, int num_pending_groups) {
    static_cast<EmulationMachine*>(self)->async_wait(num_pending_groups);
  };
  hooks.access = [](void* self, const void* address, int bytes, int alignment, int is_write) {
    const EmulatedAccess access = {
        .address = address,
        .bytes = static_cast<std::size_t>(bytes),
        .alignment = static_cast<std::size_t>(alignment),
    };
    static_cast<EmulationMachine*>(self)->access(access, is_write != 0);
  };
  return hooks;
}

void EmulationMachine::meet(EmulatedScope scope, const char* what, const void* site) {
  current().site = site;
  if (scope == kEmulatedWarp) {
    const int warp = now_ / 32;
    if (arrive(warps_[static_cast<std::size_t>(warp)], Stage::AtWarp, what)) {
      accesses_.warp_met(warp);
      release(warp * 32, 32);
    }
  } else if (scope == kEmulatedCluster) {
    if (!launch_.cluster) {
      give_up(Status::LaunchFailed, "a barrier of a cluster in a launch without one");
    }
    if (arrive(cluster_, Stage::AtCluster, what)) {
      accesses_.grid_met();
      release(0, static_cast<int>(threads_.size()));
    }
  } else {
    const int block = place_.block;
    if (arrive(blocks_[static_cast<std::size_t>(block)], Stage::AtBlock, what)) {
      accesses_.block_met(block);
      release(block * launch_.threads, launch_.threads);
    }
  }
  fibers_.suspend();
}

void EmulationMachine::meet_team(
    int first_warp, int num_warps, const char* what, const void* site
) {
  current().site = site;
  const int warp = place_.thread / 32;
  if (warp < first_warp || warp >= first_warp + num_warps ||
      (first_warp + num_warps) * 32 > launch_.threads) {
    give_up(
        Status::Crashed,
        fmt::format(
            "a thread of warp {} meets with the {} warps from {} on of a block of {}",
            warp,
            num_warps,
            first_warp,
            launch_.threads / 32
        )
    );
  }
  const int first = place_.block * launch_.threads / 32 + first_warp;
  Meeting& meeting = teams_[{first, num_warps}];
  meeting.size = num_warps * 32;
  if (arrive(meeting, Stage::AtTeam, what)) {
    accesses_.team_met(first, num_warps);
    release(first * 32, num_warps * 32);
  }
  fibers_.suspend();
}

// A lane is at most one exchange ahead of another, so two buffers a warp are enough. It orders no
// accesses to memory, as on a GPU.
const unsigned* EmulationMachine::exchange(const char* what, const unsigned* words, int num_words) {
  const int warp = now_ / 32;
  const std::size_t parity = current().exchanges++ % 2u;
  unsigned* buffer = exchanged_.data() +
                     (static_cast<std::size_t>(warp) * 2 + parity) * 32 * kEmulationExchangeWords;
  std::memcpy(
      buffer + now_ % 32 * kEmulationExchangeWords,
      words,
      static_cast<std::size_t>(num_words) * sizeof(unsigned)
  );
  if (arrive(warps_[static_cast<std::size_t>(warp)], Stage::AtWarp, what)) {
    release(warp * 32, 32);
  }
  fibers_.suspend();
  return buffer;
}

bool EmulationMachine::grid_barrier(
    unsigned* control, unsigned num_blocks, unsigned place, const void* site
) {
  current().site = site;
  // What the barrier on a GPU adds up to: bit 31 flips.
  constexpr unsigned kFlip = 0x80000000u;
  if (num_blocks != static_cast<unsigned>(launch_.blocks)) {
    give_up(
        Status::Crashed,
        fmt::format("grid_barrier is told of {} blocks of {}", num_blocks, launch_.blocks)
    );
  }
  if (!launch_.cooperative && launch_.blocks > 1) {
    give_up(Status::LaunchFailed, "grid_barrier in a launch that is not cooperative");
  }
  if (grid_.waiting > 0 && barrier_place_ != place) {
    give_up(
        Status::Crashed,
        fmt::format("threads meet at places {} and {} of grid_barrier", barrier_place_, place)
    );
  }
  barrier_place_ = place;
  current().control = control;
  if (arrive(grid_, Stage::AtGrid, "grid_barrier")) {
    accesses_.grid_met();
    *control += kFlip;
    for (Thread& thread : threads_) {
      thread.passed_grid_barrier = true;
    }
    release(0, static_cast<int>(threads_.size()));
  }
  fibers_.suspend();
  return current().passed_grid_barrier;
}

void EmulationMachine::poll(const unsigned* word) {
  Thread& thread = current();
  if (thread.polled_word != word || thread.polled_value != *word) {
    progressed_ = true;
  }
  thread.polled_word = word;
  thread.polled_value = *word;
  thread.stage = Stage::Polling;
  thread.waits_in = "poll_acquire";
  fibers_.suspend();
}

void EmulationMachine::async_copy(Copy copy) {
  if (copy.from != nullptr) {
    complain(accesses_.read(now_, {copy.from, copy.bytes, copy.bytes}));
  }
  complain(accesses_.begin_write(now_, {copy.to, copy.bytes, copy.bytes}));
  // The hardware lands a copy at any time up to the wait. Late shows a missing wait, early shows a
  // copy into memory that is still being read.
  const bool is_early = options_.order == EmulationOptions::Order::Reverse ||
                        (options_.order == EmulationOptions::Order::Random && ready_.flip_coin());
  if (is_early) {
    land(copy);
  }
  current().open_group.push_back(copy);
}

void EmulationMachine::async_commit() {
  Thread& thread = current();
  thread.groups.push_back(std::exchange(thread.open_group, {}));
}

void EmulationMachine::async_wait(int num_pending_groups) {
  std::vector<std::vector<Copy>>& groups = current().groups;
  while (groups.size() > static_cast<std::size_t>(num_pending_groups)) {
    for (Copy& copy : groups.front()) {
      land(copy);
      accesses_.end_write(now_, {copy.to, copy.bytes, copy.bytes});
    }
    groups.erase(groups.begin());
  }
}

void EmulationMachine::land(Copy& copy) {
  if (copy.landed) {
    return;
  }
  if (copy.from == nullptr) {
    std::memset(copy.to, 0, copy.bytes);
  } else {
    std::memcpy(copy.to, copy.from, copy.bytes);
  }
  copy.landed = true;
}

void EmulationMachine::access(const EmulatedAccess& access, bool is_write) {
  if (!fibers_.owns(access.address)) {
    complain(is_write ? accesses_.write(now_, access) : accesses_.read(now_, access));
  }
}

// True for the last to arrive, who then releases the others and itself.
void EmulationMachine::check_warp_is_together(Stage stage, const char* what) {
  const int first = now_ / 32 * 32;
  for (int lane = 0; lane < 32; ++lane) {
    const Thread& other = threads_[static_cast<std::size_t>(first + lane)];
    if (other.stage == stage && other.site != current().site) {
      give_up(
          Status::TimedOut,
          fmt::format(
              "lanes {} and {} of warp {} of block {} are in {} at two places of the kernel: on a "
              "GPU that may never end",
              lane,
              place_.thread % 32,
              place_.thread / 32,
              place_.block,
              what
          )
      );
    }
  }
}

bool EmulationMachine::arrive(Meeting& meeting, Stage stage, const char* what) {
  Thread& thread = current();
  if (meeting.waiting > 0 && std::strcmp(meeting.what, what) != 0) {
    give_up(
        Status::TimedOut,
        fmt::format(
            "thread {} of block {} is in {} while others of its {} are in {}",
            place_.thread,
            place_.block,
            what,
            stage == Stage::AtWarp      ? "warp"
            : stage == Stage::AtTeam    ? "team"
            : stage == Stage::AtCluster ? "cluster"
                                        : "block",
            meeting.what
        )
    );
  }
  if (stage != Stage::AtWarp) {
    check_warp_is_together(stage, what);
  }
  meeting.what = what;
  thread.stage = stage;
  thread.waits_in = what;
  if (++meeting.waiting < meeting.size) {
    return false;
  }
  meeting.waiting = 0;
  progressed_ = true;
  barren_wakes_ = 0;
  return true;
}

void EmulationMachine::release(int first_thread, int num_threads) {
  for (int thread = first_thread; thread < first_thread + num_threads; ++thread) {
    threads_[static_cast<std::size_t>(thread)].stage = Stage::Ready;
    ready_.add(thread);
  }
}

void EmulationMachine::complain(AccessChecker::Complaint complaint) {
  if (complaint) {
    give_up(Status::Crashed, std::move(*complaint));
  }
}

void EmulationMachine::give_up(Status status, std::string detail) {
  fail(status, std::move(detail));
  fibers_.suspend();
}

}  // namespace whet
