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

ProcessOptions process_options(std::vector<std::string> command) {
  ProcessOptions options;
  options.arguments = std::move(command);
  return options;
}

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

ChildProcess::ChildProcess(std::vector<std::string> command)
    : name_(std::filesystem::path(command.at(0)).filename().string()),
      process_(process_options(std::move(command))) {}

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
  end();
  const std::string words = last_words(process_.stderr_tail());
  if (exit && failure.fault == FrameFault::Closed) {
    return {ChildFault::Kind::Died, fmt::format("{}: {}{}", name_, exit->describe(), words)};
  }
  if (exit) {
    return {
        ChildFault::Kind::Died,
        fmt::format("{}: {} ({}){}", name_, exit->describe(), failure.detail, words)};
  }
  return {
      ChildFault::Kind::Garbage,
      fmt::format("{} broke the conversation: {}{}", name_, failure.detail, words)};
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

}  // namespace whet
