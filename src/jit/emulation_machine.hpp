#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/device/emulation/hooks.hpp"
#include "evaluation/evaluation.hpp"
#include "jit/emulation_access.hpp"
#include "jit/emulation_fibers.hpp"
#include "jit/emulation_memory.hpp"
#include "jit/emulation_order.hpp"
#include "jit/executor.hpp"

namespace whet {

/// A grid of emulated threads.
struct EmulatedLaunch {
  EmulatedEntry entry = nullptr;
  const void* arguments = nullptr;
  std::size_t argument_bytes = 0;
  int blocks = 1;
  int threads = 32;  ///< a block
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  bool cluster = false;  ///< the blocks are one
};

/// Why a launch did not end as it should.
struct EmulationFault {
  Status status = Status::Ok;  ///< LaunchFailed, Crashed, or TimedOut where a GPU would hang
  std::string detail;
};

/// Runs CUDA kernels that were compiled for the host (src/codegen/device/emulation), one fiber a
/// thread. Between barriers and collectives a thread runs alone, in the order of the options. A
/// rendezvous that nobody can complete is a fault, said at once; where all wait at grid barriers
/// that others will not reach, those give up as on a GPU and leave the place in the status word.
class EmulationMachine {
 public:
  explicit EmulationMachine(const EmulationOptions& options);
  EmulationMachine(const EmulationMachine&) = delete;
  EmulationMachine& operator=(const EmulationMachine&) = delete;

  /// Runs a launch to its end. Accesses of the kernel that it hears of are checked against `memory`
  /// (see AccessChecker) and the shared memory of the blocks, which starts poisoned.
  std::optional<EmulationFault> run(const EmulatedLaunch& launch, const EmulatedMemory* memory);

  static constexpr int kMaxBlocks = 16;
  static constexpr int kMaxThreads = 1024;

 private:
  struct Copy {
    void* to = nullptr;
    const void* from = nullptr;  ///< null: zeros
    std::size_t bytes = 0;
    bool landed = false;
  };
  enum class Stage { Ready, AtWarp, AtTeam, AtBlock, AtCluster, AtGrid, Polling, Ended };
  struct Thread {
    EmulatedThread place = {};
    Stage stage = Stage::Ready;
    const char* waits_in = "";
    const void* site = nullptr;        ///< of the barrier that it waits at
    unsigned exchanges = 0;            ///< parity picks the buffer of the next one
    bool passed_grid_barrier = false;  ///< what grid_barrier returns
    unsigned* control = nullptr;       ///< its argument
    const unsigned* polled_word = nullptr;
    unsigned polled_value = 0;
    std::vector<std::vector<Copy>> groups;  ///< committed, not yet waited for
    std::vector<Copy> open_group;
  };
  /// Who is at a barrier.
  struct Meeting {
    int size = 0;
    int waiting = 0;
    const char* what = "";
  };

  void begin(const EmulatedLaunch& launch, const EmulatedMemory* memory);
  void run_thread(int thread);
  void resolve_standstill();
  bool wake_pollers();
  bool give_up_grid_barrier();
  std::string describe_waiting() const;

  // What the hooks do: it runs on the fiber of thread `now_` (emulation_hooks.cpp).
  void meet(EmulatedScope scope, const char* what, const void* site);
  void meet_team(int first_warp, int num_warps, const char* what, const void* site);
  const unsigned* exchange(const char* what, const unsigned* words, int num_words);
  bool grid_barrier(unsigned* control, unsigned num_blocks, unsigned place, const void* site);
  void poll(const unsigned* word);
  void async_copy(Copy copy);
  void async_commit();
  void async_wait(int num_pending_groups);
  void access(const EmulatedAccess& access, bool is_write);
  static EmulationHooks make_hooks(EmulationMachine* machine);

  /// Lanes of a warp that wait for others wait at one place.
  void check_warp_is_together(Stage stage, const char* what);
  bool arrive(Meeting& meeting, Stage stage, const char* what);
  void release(int first_thread, int num_threads);
  static void land(Copy& copy);
  void complain(AccessChecker::Complaint complaint);
  /// Ends the launch; the thread is not resumed.
  void give_up(Status status, std::string detail);

  void fail(Status status, std::string detail);
  Thread& current() { return threads_[static_cast<std::size_t>(now_)]; }

  EmulationOptions options_;
  ReadyThreads ready_;
  Fibers fibers_;
  AccessChecker accesses_;
  EmulationHooks hooks_;
  EmulatedLaunch launch_;
  EmulatedMemory shared_memory_;
  std::vector<Thread> threads_;
  std::vector<Meeting> warps_;
  std::vector<Meeting> blocks_;
  std::map<std::pair<int, int>, Meeting> teams_;  ///< by first warp of the grid and warps
  Meeting cluster_;
  Meeting grid_;
  unsigned barrier_place_ = 0;       ///< at which the grid meets
  std::vector<unsigned> exchanged_;  ///< two buffers a warp
  EmulatedThread place_ = {};        ///< of the thread that runs
  int now_ = -1;
  int num_ended_ = 0;
  bool progressed_ = false;  ///< since pollers were last woken
  int barren_wakes_ = 0;     ///< of pollers, without a meeting or an end
  std::optional<EmulationFault> fault_;
};

}  // namespace whet
