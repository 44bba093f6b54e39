#include "cli/interruption.hpp"

#include <csignal>

namespace whet {
namespace {

// The one mutable global of whet: a signal handler has no other way to speak.
std::atomic<bool> interrupted = false;
static_assert(
    std::atomic<bool>::is_always_lock_free, "a signal handler may only use lock-free ones"
);

void on_signal(int) { interrupted = true; }

}  // namespace

const std::atomic<bool>& watch_interruption() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal is not ours
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace whet
