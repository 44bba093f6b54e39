#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "harness/messages.hpp"

namespace whet {

/// whet-compile children that serve a queue, each driven by a thread of ours. A child that dies or
/// hangs ends its candidate as CompileFailed or CompileTimedOut, and is replaced.
class CompilePool {
 public:
  struct Options {
    std::vector<std::string> command;
    int num_children = 1;
    /// Beyond the compiler's own limit in the request, which ends a slow compiler politely.
    std::chrono::milliseconds deadline{75'000};
    /// Nothing is compiled but inside wait(): then a measurement elsewhere is undisturbed.
    bool only_while_waiting = false;
  };
  explicit CompilePool(Options options);
  /// Cancels what is queued or under way.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  using Ticket = std::int64_t;
  Ticket submit(const CompileRequest& request);
  /// The ticket's answer, once. With only_while_waiting, waits for the whole queue. Throws what
  /// ends the command: an Error of the child, or EnvironmentError when it cannot be started.
  CompileResponse wait(Ticket ticket);
  /// Forgets everything that was submitted; children that were busy are ended.
  void cancel();

 private:
  using Answer = std::variant<CompileResponse, std::exception_ptr>;
  struct Item {
    Ticket ticket = 0;
    CompileRequest request;
  };

  void serve();
  bool is_idle() const { return queue_.empty() && num_busy_ == 0; }

  Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  std::map<Ticket, Answer> answers_;
  Ticket next_ticket_ = 0;
  Ticket first_valid_ = 0;  ///< answers to older tickets are dropped
  int num_busy_ = 0;
  bool gate_open_ = false;
  bool stopping_ = false;
  std::atomic<bool> cancelled_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace whet
