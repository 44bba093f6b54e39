#include "harness/compile_pool.hpp"

#include <optional>
#include <utility>

#include "base/error.hpp"
#include "harness/child_process.hpp"

namespace whet {
namespace {

CompileResponse ended(Status status, const std::string& detail) {
  CompileResponse response;
  response.status = status;
  response.detail = detail;
  return response;
}

/// One request on `child`, which is started when there is none and dropped when it failed. A child
/// that dies blames nobody at first: the request is tried once more, in a fresh one.
CompileResponse compile_on(
    std::optional<ChildProcess>& child,
    const CompilePool::Options& options,
    const CompileRequest& request,
    const std::atomic<bool>& cancelled
) {
  for (bool is_first = true;; is_first = false) {
    if (!child) {
      child.emplace(start_of(options.command));
    }
    std::variant<CompileResponse, ChildFault> outcome =
        ask<CompileResponse>(*child, request, options.deadline, &cancelled);
    if (auto* response = std::get_if<CompileResponse>(&outcome)) {
      return std::move(*response);
    }
    const ChildFault& fault = std::get<ChildFault>(outcome);
    child.reset();
    if (fault.kind == ChildFault::Kind::TimedOut) {
      return ended(Status::CompileTimedOut, fault.detail);
    }
    if (!is_first) {
      return ended(Status::CompileFailed, fault.detail);
    }
  }
}

}  // namespace

CompilePool::CompilePool(Options options) : options_(std::move(options)) {
  for (int i = 0; i < options_.num_children; ++i) {
    threads_.emplace_back([this] { serve(); });
  }
}

CompilePool::~CompilePool() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    cancelled_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

CompilePool::Ticket CompilePool::submit(const CompileRequest& request) {
  const std::scoped_lock lock(mutex_);
  queue_.push_back({.ticket = next_ticket_, .request = request});
  changed_.notify_all();
  return next_ticket_++;
}

CompileResponse CompilePool::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  if (!answers_.contains(ticket)) {
    gate_open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this, ticket] {
      return answers_.contains(ticket) && (!options_.only_while_waiting || is_idle());
    });
    gate_open_ = false;
  }
  const Answer answer = std::move(answers_.extract(ticket).mapped());
  lock.unlock();
  if (const auto* error = std::get_if<std::exception_ptr>(&answer)) {
    std::rethrow_exception(*error);
  }
  return std::get<CompileResponse>(answer);
}

void CompilePool::cancel() {
  std::unique_lock lock(mutex_);
  queue_.clear();
  answers_.clear();
  first_valid_ = next_ticket_;
  cancelled_ = true;
  changed_.wait(lock, [this] { return num_busy_ == 0; });
  cancelled_ = false;
}

void CompilePool::serve() {
  std::optional<ChildProcess> child;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] {
      const bool may_work = gate_open_ || !options_.only_while_waiting;
      return stopping_ || (may_work && !queue_.empty());
    });
    if (stopping_) {
      return;
    }
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    ++num_busy_;
    lock.unlock();
    Answer answer;
    try {
      answer = compile_on(child, options_, item.request, cancelled_);
    } catch (...) {
      child.reset();
      answer = std::current_exception();
    }
    lock.lock();
    --num_busy_;
    if (item.ticket >= first_valid_) {
      answers_[item.ticket] = std::move(answer);
    }
    changed_.notify_all();
  }
}

}  // namespace whet
