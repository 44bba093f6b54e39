#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/subprocess.hpp"
#include "harness/messages.hpp"
#include "harness/protocol.hpp"

namespace whet {

/// Why a child gave no answer. It has been ended, with everything below it.
struct ChildFault {
  enum class Kind {
    Died,      ///< it ended by itself or by a signal
    TimedOut,  ///< it was still busy at the deadline
    Garbage,   ///< it wrote what is no answer
    Cancelled,
  };
  Kind kind = Kind::Died;
  std::string detail;  ///< with how it ended and its last words
};

/// A child program and the conversation with it. Not thread-safe; the thread that makes it must
/// live as long (see Subprocess).
class ChildProcess {
 public:
  /// Starts it. Throws EnvironmentError.
  explicit ChildProcess(const ProcessOptions& options);
  ~ChildProcess();
  ChildProcess(ChildProcess&&) noexcept = default;
  ChildProcess& operator=(ChildProcess&&) = delete;

  /// Sends a request and waits for its answer. After a fault the child is gone.
  std::variant<Message, ChildFault> call(
      const Message& request,
      std::chrono::milliseconds timeout,
      const std::atomic<bool>* cancelled = nullptr
  );
  /// The same for a program that answers a line of text with a line of text: neither has its
  /// newline. Without a request, waits for the next line.
  std::variant<std::string, ChildFault> call_line(
      const std::optional<std::string>& request, std::chrono::milliseconds timeout
  );
  /// Ends it for an answer that is not one to the request, for the reason in `detail`.
  ChildFault reject(const std::string& detail);
  /// Whether it was not ended by a fault.
  bool is_usable() const { return !ended_; }
  pid_t pid() const { return process_.pid(); }

 private:
  ChildFault fault(const FrameFailure& failure, std::chrono::milliseconds timeout, bool cancelled);
  void end() noexcept;

  std::string name_;
  Subprocess process_;
  bool ended_ = false;
};

/// How to start a program with these arguments and nothing special.
ProcessOptions start_of(std::vector<std::string> command);

/// The answer of type `Answer` to `request`, or the fault. Throws the Error that the child reports.
template <typename Answer, typename Request>
std::variant<Answer, ChildFault> ask(
    ChildProcess& child,
    const Request& request,
    std::chrono::milliseconds timeout,
    const std::atomic<bool>* cancelled = nullptr
) {
  std::variant<Message, ChildFault> outcome = child.call(encode(request), timeout, cancelled);
  if (auto* fault = std::get_if<ChildFault>(&outcome)) {
    return std::move(*fault);
  }
  const Message& message = std::get<Message>(outcome);
  std::optional<ErrorResponse> error;
  try {
    if (message.kind != ErrorResponse::kKind) {
      return decode<Answer>(message);
    }
    error = decode<ErrorResponse>(message);
  } catch (const EnvironmentError& unexpected) {
    return child.reject(unexpected.what());
  }
  raise(*error);
}

}  // namespace whet
