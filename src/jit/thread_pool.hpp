#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace whet {

/// Number of cores that this process may use (its affinity mask).
int num_allowed_cores();

/// Persistent threads that run one function at a time, each with its own index. Between runs they
/// spin for some microseconds, as the next launch usually follows at once, and then sleep. Not
/// thread-safe.
class ThreadPool {
 public:
  /// `num_threads` counts the caller, who is thread 0. Throws EnvironmentError when the system does
  /// not give that many.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  using Function = void (*)(void* context, int thread);
  /// Calls function(context, i) on thread i for i in [0, num_threads), and returns when all have
  /// returned. `num_threads` is at most size(); the function must not throw.
  void run(int num_threads, Function function, void* context);
  int size() const { return static_cast<int>(workers_.size()) + 1; }

 private:
  /// A cache line of its own for each worker, so that waking one does not disturb another.
  struct alignas(64) Worker {
    std::atomic<std::uint32_t> ticket{0};  ///< changes when there is work
    Function function = nullptr;           ///< null: end
    void* context = nullptr;
    std::thread thread;
  };
  void work(Worker& worker, int thread);
  static void start(Worker& worker, Function function, void* context);
  void stop() noexcept;

  std::vector<std::unique_ptr<Worker>> workers_;
  alignas(64) std::atomic<std::uint32_t> num_busy_{0};
};

}  // namespace whet
