// Between fork and exec the child may call async-signal-safe functions only, as another thread may
// have held malloc's lock. So all that needs memory is prepared before, and the child reports a
// failure as two integers through a pipe that a successful exec closes.
#include "base/spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/error.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

/// Moves a descriptor above the standard ones, so that the child's dup2 cannot overwrite it when
/// our own standard streams are closed.
Descriptor lifted(Descriptor low) {
  if (low.get() > STDERR_FILENO) {
    return low;
  }
  Descriptor high(::fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!high) {
    throw_errno("cannot duplicate a pipe");
  }
  return high;
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw_errno("cannot make a pipe");
  }
  Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  return {.read_end = lifted(std::move(read_end)), .write_end = lifted(std::move(write_end))};
}

void make_nonblocking(const Descriptor& end) {
  const int flags = ::fcntl(end.get(), F_GETFL);
  if (flags < 0 || ::fcntl(end.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    throw_errno("cannot make a pipe non-blocking");
  }
}

/// As execvp would look, but a relative path is relative to our folder, not to the child's.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return fs::absolute(name).string();
  }
  const char* path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path candidate = fs::absolute(folders.substr(begin, end - begin) + "/" + name);
    if (fs::is_regular_file(candidate) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate.string();
    }
    begin = end + 1;
  }
  throw EnvironmentError(fmt::format("cannot start '{}': not found in PATH ({})", name, folders));
}

bool names(const std::string& entry, const std::string& variable) {
  return entry.size() > variable.size() && entry[variable.size()] == '=' &&
         entry.starts_with(variable);
}

std::vector<std::string> child_environment(const ProcessOptions& options) {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const bool dropped = std::any_of(
                             options.unset_environment.begin(),
                             options.unset_environment.end(),
                             [&](const std::string& name) { return names(text, name); }
                         ) ||
                         std::any_of(
                             options.set_environment.begin(),
                             options.set_environment.end(),
                             [&](const auto& pair) { return names(text, pair.first); }
                         );
    if (!dropped) {
      environment.push_back(text);
    }
  }
  for (const auto& [name, value] : options.set_environment) {
    environment.push_back(name + "=" + value);
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    WHET_CHECK(text.find('\0') == std::string::npos, "a process argument holds a NUL byte");
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

std::optional<cpu_set_t> core_set(const std::vector<int>& cores) {
  if (cores.empty()) {
    return std::nullopt;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    WHET_CHECK(core >= 0 && core < CPU_SETSIZE, "core {} is outside 0..{}", core, CPU_SETSIZE - 1);
    CPU_SET(static_cast<std::size_t>(core), &set);
  }
  return set;
}

enum class Step : int { Streams, ParentDeath, Group, Folder, Limit, Cores, Signals, Exec };

const char* describe(Step step) {
  switch (step) {
    case Step::Streams:
      return "connecting its standard streams";
    case Step::ParentDeath:
      return "tying it to this process";
    case Step::Group:
      return "making its process group";
    case Step::Folder:
      return "entering its working folder";
    case Step::Limit:
      return "limiting its memory";
    case Step::Cores:
      return "binding it to its cores";
    case Step::Signals:
      return "resetting its signals";
    case Step::Exec:
      return "executing it";
  }
  return "starting it";
}

struct Failure {
  Step step;
  int code;
};

/// All that the child needs after fork, laid out beforehand.
struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* working_folder;  ///< or null
  std::size_t max_address_space_bytes;
  const cpu_set_t* cores;  ///< or null
  int stdin_fd;
  int stdout_fd;
  int stderr_fd;  ///< -1: inherited
  int failure_fd;
  pid_t parent;
};

[[noreturn]] void report_failure(const ChildPlan& plan, Step step) {
  const Failure failure{.step = step, .code = errno};
  // Fewer than PIPE_BUF bytes are written whole. If that fails too, the parent sees an early end.
  [[maybe_unused]] const ssize_t written = ::write(plan.failure_fd, &failure, sizeof failure);
  ::_exit(127);
}

void require(bool succeeded, const ChildPlan& plan, Step step) {
  if (!succeeded) {
    report_failure(plan, step);
  }
}

/// Handlers do not survive exec, but ignored signals (SIGPIPE, say) and the blocked set do.
bool reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    // SIGKILL, SIGSTOP and the two that libc keeps for itself refuse.
    if (::sigaction(number, &action, nullptr) != 0 && errno != EINVAL) {
      return false;
    }
  }
  sigset_t none;
  return ::sigemptyset(&none) == 0 && ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

[[noreturn]] void become_program(const ChildPlan& plan) {
  require(::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, plan, Step::ParentDeath);
  if (::getppid() != plan.parent) {
    ::_exit(127);  // the parent died before prctl: nobody is left to report to
  }
  require(::setpgid(0, 0) == 0, plan, Step::Group);
  require(
      ::dup2(plan.stdin_fd, STDIN_FILENO) >= 0 && ::dup2(plan.stdout_fd, STDOUT_FILENO) >= 0 &&
          (plan.stderr_fd < 0 || ::dup2(plan.stderr_fd, STDERR_FILENO) >= 0),
      plan,
      Step::Streams
  );
  // Descriptors that some library opened without O_CLOEXEC; kernels before 5.11 cannot.
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  require(plan.working_folder == nullptr || ::chdir(plan.working_folder) == 0, plan, Step::Folder);
  if (plan.max_address_space_bytes != 0) {
    const rlimit limit{plan.max_address_space_bytes, plan.max_address_space_bytes};
    require(::setrlimit(RLIMIT_AS, &limit) == 0, plan, Step::Limit);
  }
  require(
      plan.cores == nullptr || ::sched_setaffinity(0, sizeof(cpu_set_t), plan.cores) == 0,
      plan,
      Step::Cores
  );
  require(reset_signals(), plan, Step::Signals);
  ::execve(plan.program, plan.arguments, plan.environment);
  report_failure(plan, Step::Exec);
}

/// fork with every signal blocked, so that none of our handlers runs in the child.
pid_t fork_child(const ChildPlan& plan) {
  sigset_t all;
  sigset_t previous;
  ::sigfillset(&all);
  const int blocked = ::pthread_sigmask(SIG_SETMASK, &all, &previous);
  WHET_CHECK(blocked == 0, "pthread_sigmask gave {}", blocked);
  const pid_t pid = ::fork();
  if (pid == 0) {
    become_program(plan);
  }
  const int fork_errno = errno;
  const int restored = ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  WHET_CHECK(restored == 0, "pthread_sigmask gave {}", restored);
  errno = fork_errno;
  return pid;
}

/// What the child reported, or nothing when exec closed the pipe.
std::optional<Failure> read_failure(const Descriptor& pipe) {
  Failure failure{};
  ssize_t got = 0;
  do {
    got = ::read(pipe.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    throw_errno("cannot learn whether a child started");
  }
  return got == static_cast<ssize_t>(sizeof failure) ? std::optional(failure) : std::nullopt;
}

void reap_failed_child(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0) {
    if (errno != EINTR) {
      throw_errno("cannot wait for a child that did not start");
    }
  }
}

}  // namespace

SpawnedProcess spawn(const ProcessOptions& options) {
  WHET_CHECK(!options.arguments.empty(), "no program is given");
  const std::string& name = options.arguments.front();
  const std::string program = find_program(name);
  std::vector<std::string> arguments = options.arguments;
  std::vector<std::string> environment = child_environment(options);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  const std::optional<cpu_set_t> cores = core_set(options.allowed_cores);

  Pipe stdin_pipe = make_pipe();
  Pipe stdout_pipe = make_pipe();
  Pipe stderr_pipe = options.capture_stderr ? make_pipe() : Pipe{};
  Pipe failure_pipe = make_pipe();
  make_nonblocking(stdin_pipe.write_end);
  make_nonblocking(stdout_pipe.read_end);
  if (stderr_pipe.read_end) {
    make_nonblocking(stderr_pipe.read_end);
  }

  const pid_t pid = fork_child({
      .program = program.c_str(),
      .arguments = argument_pointers.data(),
      .environment = environment_pointers.data(),
      .working_folder = options.working_folder.empty() ? nullptr : options.working_folder.c_str(),
      .max_address_space_bytes = options.max_address_space_bytes,
      .cores = cores ? &*cores : nullptr,
      .stdin_fd = stdin_pipe.read_end.get(),
      .stdout_fd = stdout_pipe.write_end.get(),
      .stderr_fd = stderr_pipe.write_end.get(),
      .failure_fd = failure_pipe.write_end.get(),
      .parent = ::getpid(),
  });
  if (pid < 0) {
    throw_errno(fmt::format("cannot start '{}': fork", name));
  }
  failure_pipe.write_end.reset();
  if (const std::optional<Failure> failure = read_failure(failure_pipe.read_end)) {
    reap_failed_child(pid);
    errno = failure->code;
    throw_errno(fmt::format("cannot start '{}': {}", program, describe(failure->step)));
  }
  return {
      .pid = pid,
      .stdin_pipe = std::move(stdin_pipe.write_end),
      .stdout_pipe = std::move(stdout_pipe.read_end),
      .stderr_pipe = std::move(stderr_pipe.read_end)};
}

}  // namespace whet
