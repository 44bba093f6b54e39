#include "jit/emulation_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace whet {
namespace {

// Pollers that take turns without any thread reaching a barrier or its end: a loop over several
// words, which looks like progress from each word's side.
constexpr int kMaxBarrenWakes = 1000;
// Groups of waiting threads that a message lists.
constexpr std::size_t kMaxListed = 8;

}  // namespace

EmulationMachine::EmulationMachine(const EmulationOptions& options)
    : options_(options), ready_(options), hooks_(make_hooks(this)) {}

std::optional<EmulationFault> EmulationMachine::run(
    const EmulatedLaunch& launch, const EmulatedMemory* memory
) {
  if (launch.blocks < 1 || launch.blocks > kMaxBlocks || launch.threads < 1 ||
      launch.threads > kMaxThreads || launch.threads % 32 != 0) {
    return EmulationFault{
        Status::LaunchFailed,
        fmt::format(
            "the emulation runs at most {} blocks of at most {} threads, in whole warps of 32; "
            "asked for {} blocks of {}",
            kMaxBlocks,
            kMaxThreads,
            launch.blocks,
            launch.threads
        )};
  }
  begin(launch, memory);
  while (!fault_ && num_ended_ < static_cast<int>(threads_.size())) {
    if (const std::optional<int> next = ready_.take()) {
      run_thread(*next);
    } else {
      resolve_standstill();
    }
  }
  if (!fault_) {
    if (std::optional<std::string> overrun = shared_memory_.check_guards()) {
      fault_ = {Status::Crashed, std::move(*overrun)};
    }
  }
  return std::exchange(fault_, std::nullopt);
}

void EmulationMachine::begin(const EmulatedLaunch& launch, const EmulatedMemory* memory) {
  const auto num_blocks = static_cast<std::size_t>(launch.blocks);
  const auto num_threads = static_cast<std::size_t>(launch.threads);
  launch_ = launch;
  accesses_.begin_launch(memory, launch.blocks, launch.threads);
  accesses_.add_exempt(launch.arguments, launch.argument_bytes);
  shared_memory_ = {};
  threads_.assign(num_blocks * num_threads, {});
  warps_.assign(threads_.size() / 32, {.size = 32});
  blocks_.assign(num_blocks, {.size = launch.threads});
  teams_.clear();
  cluster_ = {.size = static_cast<int>(threads_.size())};
  grid_ = cluster_;
  exchanged_.assign(threads_.size() * 2 * kEmulationExchangeWords, 0u);
  ready_.reset(launch.blocks, launch.threads / 32);
  for (int block = 0; block < launch.blocks; ++block) {
    const EmulatedRegion& shared = shared_memory_.allocate(
        launch.shared_bytes, fmt::format("the shared memory of block {}", block)
    );
    accesses_.add_shared(block, shared);
    for (int i = 0; i < launch.threads; ++i) {
      const int thread = block * launch.threads + i;
      threads_[static_cast<std::size_t>(thread)].place = {
          .thread = i, .block = block, .shared = shared.begin};
      ready_.add(thread);
    }
  }
  num_ended_ = 0;
  progressed_ = true;
  barren_wakes_ = 0;
  fibers_.prepare(static_cast<int>(threads_.size()), [this](int) {
    launch_.entry(&hooks_, launch_.arguments);
  });
}

void EmulationMachine::run_thread(int thread) {
  now_ = thread;
  place_ = current().place;
  if (fibers_.resume(thread)) {
    current().stage = Stage::Ended;
    ++num_ended_;
    progressed_ = true;
    barren_wakes_ = 0;
  }
}

// Nobody is ready, and some have not ended.
void EmulationMachine::resolve_standstill() {
  if (wake_pollers() || give_up_grid_barrier()) {
    return;
  }
  fail(Status::TimedOut, "deadlock: no thread can go on. " + describe_waiting());
}

// True if there are pollers that may find something new.
bool EmulationMachine::wake_pollers() {
  const bool any_changed = std::any_of(threads_.begin(), threads_.end(), [](const Thread& thread) {
    return thread.stage == Stage::Polling && *thread.polled_word != thread.polled_value;
  });
  if (!any_changed && (!progressed_ || barren_wakes_ > kMaxBarrenWakes)) {
    return false;
  }
  progressed_ = false;
  ++barren_wakes_;
  bool any = false;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (threads_[i].stage == Stage::Polling) {
      threads_[i].stage = Stage::Ready;
      ready_.add(static_cast<int>(i));
      any = true;
    }
  }
  return any;
}

// True if whole blocks wait at a grid barrier, and no thread waits for anything else: on a GPU they
// would poll until the limit, note the place and leave.
bool EmulationMachine::give_up_grid_barrier() {
  if (grid_.waiting == 0 || grid_.waiting + num_ended_ != static_cast<int>(threads_.size()) ||
      grid_.waiting % launch_.threads != 0) {
    return false;
  }
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const Thread& first_of_block = threads_
        [i / static_cast<std::size_t>(launch_.threads) * static_cast<std::size_t>(launch_.threads)];
    if (threads_[i].stage != first_of_block.stage) {
      return false;
    }
  }
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    if (thread.stage == Stage::AtGrid) {
      if (thread.control[1] == 0u) {
        thread.control[1] = barrier_place_ + 1u;
      }
      thread.passed_grid_barrier = false;
      thread.stage = Stage::Ready;
      ready_.add(static_cast<int>(i));
    }
  }
  grid_.waiting = 0;
  return true;
}

std::string EmulationMachine::describe_waiting() const {
  std::map<std::pair<int, std::string>, int> groups;
  for (const Thread& thread : threads_) {
    const bool ended = thread.stage == Stage::Ended;
    ++groups[{thread.place.block, ended ? "ended" : fmt::format("in {}", thread.waits_in)}];
  }
  std::vector<std::string> lines;
  for (const auto& [group, count] : groups) {
    lines.push_back(fmt::format("block {}: {} threads {}", group.first, count, group.second));
  }
  if (lines.size() > kMaxListed) {
    lines.resize(kMaxListed);
    lines.emplace_back("…");
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

void EmulationMachine::fail(Status status, std::string detail) {
  if (!fault_) {
    fault_ = {status, std::move(detail)};
  }
}

}  // namespace whet
