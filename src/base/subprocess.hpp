#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"

namespace whet {

/// How to start a child: an argument vector, never a shell string.
struct ProcessOptions {
  /// [0] is the program: searched in our PATH, or relative to our folder when it has a slash.
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> set_environment{};
  std::vector<std::string> unset_environment{};
  std::string working_folder{};             ///< empty: ours
  std::size_t max_address_space_bytes = 0;  ///< 0: no limit
  std::vector<int> allowed_cores{};         ///< empty: inherited
  bool capture_stderr = true;               ///< else inherited
};

/// How a child ended.
struct ExitState {
  bool signaled = false;
  int code = 0;  ///< exit code, or the signal's number
  /// "exit code 3", "killed by signal 9 (Killed)".
  std::string describe() const;
};

/// A child in its own process group with pipes to its standard streams. It dies with us
/// (PR_SET_PDEATHSIG, which the kernel ties to the *thread* that made the object: let a thread that
/// lives as long as the child make it), and its whole group is killed when the object goes. Not
/// thread-safe.
class Subprocess {
 public:
  /// Throws EnvironmentError, naming the program, when it cannot be started.
  explicit Subprocess(const ProcessOptions& options);
  ~Subprocess();
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;

  using Deadline = std::chrono::steady_clock::time_point;

  /// What became of a read or write.
  enum class Io { Ok, Closed, TimedOut };
  /// All bytes, or Closed / TimedOut, after which part of them may have gone. Never raises SIGPIPE.
  Io write(std::string_view bytes, Deadline deadline);
  /// Exactly `size` bytes into `out`, or Closed / TimedOut. Standard error is drained meanwhile.
  /// Closed also when the child ended, even if a grandchild still holds its standard output.
  Io read_exactly(void* out, std::size_t size, Deadline deadline);

  /// Feeds `input`, closes standard input, and appends standard output to `output` until the child
  /// closes it or ends (Ok), or TimedOut.
  Io exchange(std::string_view input, std::string& output, Deadline deadline);

  void close_stdin();
  /// Kills the whole group with SIGKILL and reaps the child. Throws EnvironmentError when the
  /// kernel does not let it die (a driver that hangs).
  void kill_group();
  /// Waits until the deadline; nothing if the child still runs then. What is left of the group of a
  /// child that ended is killed. Standard output must have been read, or a full pipe blocks the
  /// child.
  std::optional<ExitState> wait(Deadline deadline);
  /// False also reaps, as wait does.
  bool running();
  pid_t pid() const { return pid_; }
  /// The last 64 KiB that the child wrote to standard error (when captured).
  const std::string& stderr_tail();

 private:
  struct Ready {
    bool writable = false;
    bool readable = false;
    bool ended = false;
    bool timed_out = false;
  };
  /// Waits for the first of: standard input takes bytes, standard output has some (both if asked
  /// for), the child ended, the deadline. Drains standard error meanwhile.
  Ready poll_until(bool for_write, bool for_read, Deadline deadline);
  bool has_ended() const;
  void reap();
  void release() noexcept;
  void drain_stderr();

  pid_t pid_ = -1;
  Descriptor exit_event_;  ///< a pidfd; none on kernels without
  Descriptor stdin_;
  Descriptor stdout_;
  Descriptor stderr_;
  std::optional<ExitState> exit_;
  std::string stderr_tail_;
};

/// What a whole run of a child gave.
struct ProcessResult {
  bool timed_out = false;
  ExitState exit;
  std::string output;        ///< standard output
  std::string error_output;  ///< last 64 KiB of standard error
};

/// Starts, feeds `input`, collects, and kills the group at the timeout, or once the child has
/// ended.
ProcessResult run_process(
    const ProcessOptions& options, std::chrono::milliseconds timeout, std::string_view input = ""
);

}  // namespace whet
