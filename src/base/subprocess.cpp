// The child is reaped only after its group was killed: until then its id, and so the group's,
// cannot go to a stranger.
#include "base/subprocess.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/error.hpp"
#include "base/spawn.hpp"

namespace whet {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kChunkBytes = 64 * 1024;
constexpr std::size_t kStderrTailBytes = 64 * 1024;

/// Blocks SIGPIPE in this thread and swallows the one that a write to a closed pipe raised.
class SigpipeBlock {
 public:
  SigpipeBlock() {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    const int blocked = ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &previous_);
    WHET_CHECK(blocked == 0, "pthread_sigmask gave {}", blocked);
  }
  ~SigpipeBlock() {
    const timespec now{};
    while (!was_pending_ && ::sigtimedwait(&sigpipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t sigpipe_;
  sigset_t previous_;
  bool was_pending_ = false;
};

/// The number of bytes taken, 0 if the pipe is full; nothing if nobody can read it any more.
std::optional<std::size_t> write_some(int fd, std::string_view bytes) {
  const SigpipeBlock block;
  const ssize_t written = ::write(fd, bytes.data(), bytes.size());
  if (written >= 0) {
    return static_cast<std::size_t>(written);
  }
  if (errno == EPIPE) {
    return std::nullopt;
  }
  if (errno != EAGAIN && errno != EINTR) {
    throw_errno("cannot write to a child");
  }
  return 0;
}

/// The number of bytes read, 0 if there are none now; nothing at the end.
std::optional<std::size_t> read_some(int fd, char* out, std::size_t size) {
  const ssize_t got = ::read(fd, out, size);
  if (got > 0) {
    return static_cast<std::size_t>(got);
  }
  if (got == 0) {
    return std::nullopt;
  }
  if (errno != EAGAIN && errno != EINTR) {
    throw_errno("cannot read from a child");
  }
  return 0;
}

timespec to_timespec(steady_clock::duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(duration - seconds);
  return {.tv_sec = seconds.count(), .tv_nsec = rest.count()};
}

/// glibc has a wrapper only from 2.36 on. None, rather than an error, on kernels before 5.3.
Descriptor open_pidfd(pid_t pid) {
  Descriptor event(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!event && errno != ENOSYS && errno != EPERM) {
    throw_errno("cannot watch a child");
  }
  return event;
}

}  // namespace

std::string ExitState::describe() const {
  if (!signaled) {
    return fmt::format("exit code {}", code);
  }
  const char* name = ::sigdescr_np(code);
  return fmt::format("killed by signal {} ({})", code, name != nullptr ? name : "unknown");
}

Subprocess::Subprocess(const ProcessOptions& options) {
  SpawnedProcess process = spawn(options);
  pid_ = process.pid;
  stdin_ = std::move(process.stdin_pipe);
  stdout_ = std::move(process.stdout_pipe);
  stderr_ = std::move(process.stderr_pipe);
  try {
    exit_event_ = open_pidfd(pid_);
  } catch (...) {
    release();
    throw;
  }
}

Subprocess::~Subprocess() { release(); }

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      exit_event_(std::move(other.exit_event_)),
      stdin_(std::move(other.stdin_)),
      stdout_(std::move(other.stdout_)),
      stderr_(std::move(other.stderr_)),
      exit_(std::exchange(other.exit_, std::nullopt)),
      stderr_tail_(std::move(other.stderr_tail_)) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this != &other) {
    release();
    pid_ = std::exchange(other.pid_, -1);
    exit_event_ = std::move(other.exit_event_);
    stdin_ = std::move(other.stdin_);
    stdout_ = std::move(other.stdout_);
    stderr_ = std::move(other.stderr_);
    exit_ = std::exchange(other.exit_, std::nullopt);
    stderr_tail_ = std::move(other.stderr_tail_);
  }
  return *this;
}

Subprocess::Io Subprocess::write(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (!stdin_) {
      return Io::Closed;
    }
    const Ready ready = poll_until(true, false, deadline);
    if (ready.writable) {
      const std::optional<std::size_t> num_written = write_some(stdin_.get(), bytes);
      if (!num_written) {
        return Io::Closed;
      }
      bytes.remove_prefix(*num_written);
    } else if (ready.ended) {
      return Io::Closed;
    } else if (ready.timed_out) {
      return Io::TimedOut;
    }
  }
  return Io::Ok;
}

Subprocess::Io Subprocess::read_exactly(void* out, std::size_t size, Deadline deadline) {
  auto* bytes = static_cast<char*>(out);
  while (size > 0) {
    if (!stdout_) {
      return Io::Closed;
    }
    const Ready ready = poll_until(false, true, deadline);
    if (ready.timed_out) {
      return Io::TimedOut;
    }
    // The child may have written and ended between poll's looks at the two, hence this last read.
    const std::optional<std::size_t> num_read = read_some(stdout_.get(), bytes, size);
    if (!num_read || (*num_read == 0 && ready.ended)) {
      return Io::Closed;
    }
    bytes += *num_read;
    size -= *num_read;
  }
  return Io::Ok;
}

Subprocess::Io Subprocess::exchange(
    std::string_view input, std::string& output, Deadline deadline
) {
  std::vector<char> chunk(kChunkBytes);
  while (true) {
    if (input.empty()) {
      close_stdin();
    }
    const Ready ready = poll_until(!input.empty(), true, deadline);
    if (ready.writable) {
      const std::optional<std::size_t> num_written = write_some(stdin_.get(), input);
      input.remove_prefix(num_written.value_or(input.size()));
    }
    const std::optional<std::size_t> num_read =
        read_some(stdout_.get(), chunk.data(), chunk.size());
    if (!num_read || (*num_read == 0 && ready.ended)) {
      return Io::Ok;
    }
    output.append(chunk.data(), *num_read);
    // Asked of the clock, as a child that writes without end is always ready.
    if (steady_clock::now() >= deadline) {
      return Io::TimedOut;
    }
  }
}

void Subprocess::close_stdin() { stdin_.reset(); }

void Subprocess::kill_group() {
  if (pid_ < 0 || exit_) {
    return;
  }
  if (::kill(-pid_, SIGKILL) != 0) {
    throw_errno(fmt::format("cannot kill process group {}", pid_));
  }
  // A process in uninterruptible sleep dies when the kernel lets go of it, or never.
  constexpr std::chrono::seconds kPatience{10};
  const Deadline deadline = steady_clock::now() + kPatience;
  while (!has_ended()) {
    if (poll_until(false, false, deadline).timed_out) {
      throw EnvironmentError(fmt::format(
          "process {} did not end within {} s of SIGKILL; it may be stuck in a driver",
          pid_,
          kPatience.count()
      ));
    }
  }
  reap();
}

std::optional<ExitState> Subprocess::wait(Deadline deadline) {
  WHET_CHECK(pid_ > 0, "this child was moved from");
  while (!exit_) {
    const Ready ready = poll_until(false, false, deadline);
    if (ready.ended) {
      reap();
    } else if (ready.timed_out) {
      return std::nullopt;
    }
  }
  return exit_;
}

bool Subprocess::running() { return pid_ > 0 && !wait(steady_clock::now()); }

const std::string& Subprocess::stderr_tail() {
  drain_stderr();
  return stderr_tail_;
}

Subprocess::Ready Subprocess::poll_until(bool for_write, bool for_read, Deadline deadline) {
  // Without a pidfd the end of the child is looked for this often.
  constexpr std::chrono::milliseconds kBlindSlice{5};
  constexpr std::chrono::hours kLongestSlice{1};
  while (true) {
    // poll skips negative descriptors.
    std::array<pollfd, 4> polled = {{
        {.fd = for_write ? stdin_.get() : -1, .events = POLLOUT, .revents = 0},
        {.fd = for_read ? stdout_.get() : -1, .events = POLLIN, .revents = 0},
        {.fd = stderr_.get(), .events = POLLIN, .revents = 0},
        {.fd = exit_ ? -1 : exit_event_.get(), .events = POLLIN, .revents = 0},
    }};
    const auto remaining = std::max(deadline - steady_clock::now(), steady_clock::duration::zero());
    const bool blind = !exit_ && !exit_event_;
    steady_clock::duration slice = blind ? steady_clock::duration(kBlindSlice) : kLongestSlice;
    slice = exit_ ? steady_clock::duration::zero() : std::min(slice, remaining);
    const timespec timeout = to_timespec(slice);
    if (::ppoll(polled.data(), polled.size(), &timeout, nullptr) < 0) {
      if (errno != EINTR) {
        throw_errno("cannot wait for a child");
      }
      continue;
    }
    if (polled[2].revents != 0) {
      drain_stderr();
    }
    Ready ready{
        .writable = polled[0].revents != 0,
        .readable = polled[1].revents != 0,
        .ended = polled[3].revents != 0 || ((blind || exit_) && has_ended()),
    };
    ready.timed_out = !ready.writable && !ready.readable && !ready.ended &&
                      remaining == steady_clock::duration::zero();
    if (ready.writable || ready.readable || ready.ended || ready.timed_out) {
      return ready;
    }
  }
}

bool Subprocess::has_ended() const {
  if (pid_ < 0 || exit_) {
    return true;
  }
  siginfo_t info{};
  // WNOWAIT leaves the child to be reaped, see the top of this file.
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != EINTR) {
      throw_errno(fmt::format("cannot look at process {}", pid_));
    }
  }
  return info.si_pid == pid_;
}

void Subprocess::reap() {
  // What the child left in its group. EPERM: it changed its user, and is beyond our reach.
  if (::kill(-pid_, SIGKILL) != 0 && errno != ESRCH && errno != EPERM) {
    throw_errno(fmt::format("cannot kill process group {}", pid_));
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) {
      throw_errno(fmt::format("cannot reap process {}", pid_));
    }
  }
  const bool signaled = WIFSIGNALED(status);
  exit_ =
      ExitState{.signaled = signaled, .code = signaled ? WTERMSIG(status) : WEXITSTATUS(status)};
  drain_stderr();
}

void Subprocess::release() noexcept {
  try {
    kill_group();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "whet: %s\n", error.what());
  }
  pid_ = -1;
}

void Subprocess::drain_stderr() {
  // A child that writes without end must not hold us here.
  constexpr int kMaxChunks = 16;
  std::vector<char> chunk(kChunkBytes);
  for (int i = 0; stderr_ && i < kMaxChunks; ++i) {
    const std::optional<std::size_t> num_read =
        read_some(stderr_.get(), chunk.data(), chunk.size());
    if (!num_read) {
      stderr_.reset();
      return;
    }
    if (*num_read == 0) {
      return;
    }
    stderr_tail_.append(chunk.data(), *num_read);
    if (stderr_tail_.size() > kStderrTailBytes) {
      stderr_tail_.erase(0, stderr_tail_.size() - kStderrTailBytes);
    }
  }
}

ProcessResult run_process(
    const ProcessOptions& options, std::chrono::milliseconds timeout, std::string_view input
) {
  const Subprocess::Deadline deadline = steady_clock::now() + timeout;
  Subprocess child(options);
  ProcessResult result;
  const bool exchanged = child.exchange(input, result.output, deadline) == Subprocess::Io::Ok;
  std::optional<ExitState> exit = exchanged ? child.wait(deadline) : std::nullopt;
  if (!exit) {
    result.timed_out = true;
    child.kill_group();
    exit = child.wait(deadline);
  }
  result.exit = *exit;
  result.error_output = child.stderr_tail();
  return result;
}

}  // namespace whet
