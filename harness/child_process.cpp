#include "harness/child_process.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <utility>

#include "harness/process_tree.hpp"

namespace whet {
namespace {

using std::chrono::steady_clock;

/// A child that we no longer need may finish what it does with the device.
constexpr std::chrono::milliseconds kPoliteWait{2'000};
/// A child that closed its pipe is about to end by itself.
constexpr std::chrono::milliseconds kDyingWait{2'000};

/// The end of what a child wrote to standard error, in one paragraph.
std::string last_words(const std::string& text) {
  constexpr std::size_t kMaxShown = 2'000;
  const std::size_t end = text.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) {
    return "";
  }
  const std::size_t begin = end + 1 > kMaxShown ? end + 1 - kMaxShown : 0;
  return "; it wrote: " + text.substr(begin, end + 1 - begin);
}

}  // namespace

ProcessOptions start_of(std::vector<std::string> command) {
  ProcessOptions options;
  options.arguments = std::move(command);
  return options;
}

ChildProcess::ChildProcess(const ProcessOptions& options)
    : name_(std::filesystem::path(options.arguments.at(0)).filename().string()),
      process_(options) {}

ChildProcess::~ChildProcess() {
  if (ended_ || process_.pid() < 0) {
    return;
  }
  try {
    process_.close_stdin();
    process_.wait(steady_clock::now() + kPoliteWait);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "whet: %s\n", error.what());
  }
  end();
}

void ChildProcess::end() noexcept {
  if (ended_) {
    return;
  }
  ended_ = true;
  try {
    if (process_.running()) {
      // Its children may sit in groups of their own; stopped, it cannot start another.
      ::kill(process_.pid(), SIGSTOP);
      kill_descendants(process_.pid());
      process_.kill_group();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "whet: cannot end %s: %s\n", name_.c_str(), error.what());
  }
}

ChildFault ChildProcess::fault(
    const FrameFailure& failure, std::chrono::milliseconds timeout, bool cancelled
) {
  if (failure.fault == FrameFault::TimedOut) {
    end();
    if (cancelled) {
      return {ChildFault::Kind::Cancelled, name_ + " was cancelled"};
    }
    return {
        ChildFault::Kind::TimedOut,
        fmt::format(
            "{} gave no answer within {:.1f} s{}",
            name_,
            static_cast<double>(timeout.count()) / 1e3,
            last_words(process_.stderr_tail())
        )};
  }
  const bool is_end = failure.fault == FrameFault::Closed || failure.fault == FrameFault::Torn;
  const std::optional<ExitState> exit =
      is_end ? process_.wait(steady_clock::now() + kDyingWait) : std::nullopt;
  if (!exit) {
    return reject(failure.detail);
  }
  end();
  const std::string words = last_words(process_.stderr_tail());
  if (failure.fault == FrameFault::Closed) {
    return {ChildFault::Kind::Died, fmt::format("{}: {}{}", name_, exit->describe(), words)};
  }
  return {
      ChildFault::Kind::Died,
      fmt::format("{}: {} ({}){}", name_, exit->describe(), failure.detail, words)};
}

ChildFault ChildProcess::reject(const std::string& detail) {
  end();
  return {
      ChildFault::Kind::Garbage,
      fmt::format(
          "{} broke the conversation: {}{}", name_, detail, last_words(process_.stderr_tail())
      )};
}

std::variant<Message, ChildFault> ChildProcess::call(
    const Message& request, std::chrono::milliseconds timeout, const std::atomic<bool>* cancelled
) {
  WHET_CHECK(!ended_, "{} was ended by a fault", name_);
  const Subprocess::Deadline deadline = steady_clock::now() + timeout;
  const auto is_cancelled = [cancelled] { return cancelled != nullptr && *cancelled; };
  if (const auto failure = write_frame(process_, request, deadline)) {
    return fault(*failure, timeout, is_cancelled());
  }
  FrameOutcome answer = read_frame(process_, deadline, cancelled);
  if (const auto* failure = std::get_if<FrameFailure>(&answer)) {
    return fault(*failure, timeout, is_cancelled());
  }
  return std::get<Message>(std::move(answer));
}

std::variant<std::string, ChildFault> ChildProcess::call_line(
    const std::optional<std::string>& request, std::chrono::milliseconds timeout
) {
  WHET_CHECK(!ended_, "{} was ended by a fault", name_);
  // A line of ours is some hundred bytes; more is no answer.
  constexpr std::size_t kMaxLineBytes = 64 * 1024;
  const Subprocess::Deadline deadline = steady_clock::now() + timeout;
  Subprocess::Io io = request ? process_.write(*request + "\n", deadline) : Subprocess::Io::Ok;
  std::string line;
  while (io == Subprocess::Io::Ok && line.size() <= kMaxLineBytes) {
    char c = 0;
    io = process_.read_exactly(&c, 1, deadline);
    if (io == Subprocess::Io::Ok && c == '\n') {
      return line;
    }
    line += c;
  }
  if (io == Subprocess::Io::Ok) {
    return fault({FrameFault::Oversized, "a line without an end"}, timeout, false);
  }
  const bool timed_out = io == Subprocess::Io::TimedOut;
  return fault(
      {timed_out ? FrameFault::TimedOut : FrameFault::Closed, "the stream ended"}, timeout, false
  );
}

}  // namespace whet
