#include "jit/thread_pool.hpp"

#include <sched.h>

#include <system_error>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace whet {
namespace {

void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns once `word` is no longer `old`: spins, then sleeps on a futex (std::atomic's wait).
void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  // A pause takes 10 to 50 ns, so some 40 to 200 µs: longer than a launch takes to follow another,
  // and short beside a tick of the scheduler.
  constexpr int kNumSpins = 4096;
  for (int i = 0; i < kNumSpins; ++i) {
    if (word.load(std::memory_order_acquire) != old) {
      return;
    }
    pause_core();
  }
  word.wait(old, std::memory_order_acquire);
}

}  // namespace

int num_allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // More than 1024 cores do not fit this set; the C++ library's answer is then good enough.
  if (::sched_getaffinity(0, sizeof(cores), &cores) != 0) {
    const unsigned count = std::thread::hardware_concurrency();
    return count == 0 ? 1 : static_cast<int>(count);
  }
  return CPU_COUNT(&cores);
}

ThreadPool::ThreadPool(int num_threads) {
  WHET_CHECK(num_threads >= 1, "a pool of {} threads", num_threads);
  try {
    for (int thread = 1; thread < num_threads; ++thread) {
      Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
      worker.thread = std::thread([this, &worker, thread] { work(worker, thread); });
    }
  } catch (const std::system_error& error) {
    workers_.pop_back();
    stop();
    throw EnvironmentError(fmt::format("cannot start {} threads: {}", num_threads - 1, error.what())
    );
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::run(int num_threads, Function function, void* context) {
  WHET_CHECK(num_threads <= size(), "{} threads of a pool of {}", num_threads, size());
  num_busy_.store(static_cast<std::uint32_t>(num_threads - 1), std::memory_order_relaxed);
  for (int i = 0; i < num_threads - 1; ++i) {
    start(*workers_[static_cast<std::size_t>(i)], function, context);
  }
  function(context, 0);
  for (std::uint32_t busy = num_busy_.load(std::memory_order_acquire); busy != 0;
       busy = num_busy_.load(std::memory_order_acquire)) {
    wait_while(num_busy_, busy);
  }
}

void ThreadPool::work(Worker& worker, int thread) {
  std::uint32_t ticket = 0;
  while (true) {
    wait_while(worker.ticket, ticket);
    ticket = worker.ticket.load(std::memory_order_acquire);
    if (worker.function == nullptr) {
      return;
    }
    worker.function(worker.context, thread);
    if (num_busy_.fetch_sub(1) == 1) {
      num_busy_.notify_one();
    }
  }
}

void ThreadPool::start(Worker& worker, Function function, void* context) {
  worker.function = function;
  worker.context = context;
  worker.ticket.fetch_add(1);
  worker.ticket.notify_one();
}

void ThreadPool::stop() noexcept {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    start(*worker, nullptr, nullptr);
    worker->thread.join();
  }
}

}  // namespace whet
