#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace whet {

/// How to start a child: an argument vector, never a shell string.
struct ProcessOptions {
  std::vector<std::string> arguments;                       ///< [0] is the program, searched in PATH
  std::vector<std::pair<std::string, std::string>> set_environment;
  std::vector<std::string> unset_environment;
  std::string working_folder;                               ///< empty: ours
  std::size_t max_address_space_bytes = 0;                  ///< 0: no limit
  std::vector<int> allowed_cores;                           ///< empty: inherited
  bool capture_stderr = true;                               ///< else inherited
};

/// How a child ended.
struct ExitState {
  bool signaled = false;
  int code = 0;  ///< exit code, or the signal's number
  /// "exit code 3", "killed by signal 9 (Killed)".
  std::string describe() const;
};

/// A child in its own process group with pipes to its standard streams. It dies with us
/// (PR_SET_PDEATHSIG), and its whole group is killed when the object goes.
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
  /// All bytes, or Closed / TimedOut. Never raises SIGPIPE.
  Io write(std::string_view bytes, Deadline deadline);
  /// Exactly `size` bytes into `out`, or Closed / TimedOut. Standard error is drained meanwhile.
  Io read_exactly(void* out, std::size_t size, Deadline deadline);

  void close_stdin();
  /// Kills the whole group with SIGKILL and reaps the child.
  void kill_group();
  /// Waits until the deadline; nothing if the child still runs then.
  std::optional<ExitState> wait(Deadline deadline);
  bool running();
  pid_t pid() const { return pid_; }
  /// The last 64 KiB that the child wrote to standard error (when captured).
  const std::string& stderr_tail();

 private:
  void release() noexcept;
  void drain_stderr();

  pid_t pid_ = -1;
  int stdin_fd_ = -1;
  int stdout_fd_ = -1;
  int stderr_fd_ = -1;
  std::optional<ExitState> exit_;
  std::string stderr_tail_;
};

/// What a whole run of a child gave.
struct ProcessResult {
  bool timed_out = false;
  ExitState exit;
  std::string output;         ///< standard output
  std::string error_output;   ///< last 64 KiB of standard error
};

/// Starts, feeds `input`, collects, and kills the group at the timeout.
ProcessResult run_process(
    const ProcessOptions& options, std::chrono::milliseconds timeout, std::string_view input = ""
);

}  // namespace whet
