#include "base/subprocess.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/error.hpp"
#include "base/files.hpp"

namespace whet {
namespace {

using namespace std::chrono_literals;
using Io = Subprocess::Io;

// Long enough for a loaded machine; reached only when a test fails.
constexpr std::chrono::seconds kPatience{60};

Subprocess::Deadline in(std::chrono::milliseconds delay) {
  return std::chrono::steady_clock::now() + delay;
}

ProcessOptions shell(const std::string& script) { return {.arguments = {"/bin/sh", "-c", script}}; }

std::string read_line(Subprocess& child) {
  std::string line;
  char c = 0;
  while (child.read_exactly(&c, 1, in(kPatience)) == Io::Ok && c != '\n') {
    line += c;
  }
  return line;
}

/// Waits until the process, which need not be our child, is gone.
bool goes_away(pid_t pid) {
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) {
    return errno == ESRCH;
  }
  pollfd polled{.fd = pidfd, .events = POLLIN, .revents = 0};
  const int num_ready =
      ::poll(&polled, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
  ::close(pidfd);
  return num_ready == 1;
}

TEST(Subprocess, EchoesThroughCat) {
  Subprocess cat({.arguments = {"cat"}});
  for (const std::string frame : {"hello", "a second frame"}) {
    ASSERT_EQ(cat.write(frame, in(kPatience)), Io::Ok);
    std::string echo(frame.size(), '\0');
    ASSERT_EQ(cat.read_exactly(echo.data(), echo.size(), in(kPatience)), Io::Ok);
    EXPECT_EQ(echo, frame);
  }
  EXPECT_TRUE(cat.running());
  cat.close_stdin();
  const std::optional<ExitState> exit = cat.wait(in(kPatience));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->describe(), "exit code 0");
  EXPECT_FALSE(cat.running());
}

TEST(Subprocess, ReadsWhatAChildWroteBeforeItEnded) {
  Subprocess child(shell("printf abc; exit 3"));
  std::array<char, 3> bytes{};
  ASSERT_EQ(child.read_exactly(bytes.data(), bytes.size(), in(kPatience)), Io::Ok);
  EXPECT_EQ(child.read_exactly(bytes.data(), 1, in(kPatience)), Io::Closed);
  EXPECT_EQ(child.wait(in(kPatience))->describe(), "exit code 3");
}

TEST(Subprocess, TimesOutReadingFromASleepingChild) {
  Subprocess child({.arguments = {"sleep", "1000"}});
  char c = 0;
  EXPECT_EQ(child.read_exactly(&c, 1, in(20ms)), Io::TimedOut);
  EXPECT_EQ(child.wait(in(0ms)), std::nullopt);
  child.kill_group();
  EXPECT_EQ(child.wait(in(0ms))->describe(), "killed by signal 9 (Killed)");
}

TEST(Subprocess, TimesOutWritingToAChildThatDoesNotRead) {
  Subprocess child({.arguments = {"sleep", "1000"}});
  EXPECT_EQ(child.write(std::string(4u << 20, 'x'), in(20ms)), Io::TimedOut);
}

TEST(Subprocess, WritingToAnEndedChildIsClosedAndRaisesNoSigpipe) {
  struct sigaction action {};
  struct sigaction previous {};
  action.sa_handler = SIG_DFL;
  ASSERT_EQ(::sigaction(SIGPIPE, &action, &previous), 0);
  Subprocess child({.arguments = {"true"}});
  ASSERT_TRUE(child.wait(in(kPatience)).has_value());
  EXPECT_EQ(child.write(std::string(4u << 20, 'x'), in(kPatience)), Io::Closed);
  Subprocess closer(shell("exec 0<&-; echo closed; exec sleep 1000"));
  EXPECT_EQ(read_line(closer), "closed");
  EXPECT_EQ(closer.write("x", in(kPatience)), Io::Closed);
  ASSERT_EQ(::sigaction(SIGPIPE, &previous, nullptr), 0);
}

TEST(Subprocess, DescribesASignal) {
  EXPECT_EQ(
      run_process(shell("kill -SEGV $$"), kPatience).exit.describe(),
      "killed by signal 11 (Segmentation fault)"
  );
}

TEST(Subprocess, KillsGrandchildrenWithTheGroup) {
  std::optional<Subprocess> child(shell("sleep 1000 & echo $!; wait"));
  const auto grandchild = static_cast<pid_t>(std::stoi(read_line(*child)));
  ASSERT_EQ(::kill(grandchild, 0), 0);
  child.reset();
  EXPECT_TRUE(goes_away(grandchild));
}

TEST(Subprocess, KillsGrandchildrenThatOutliveTheChild) {
  Subprocess child(shell("sleep 1000 & echo $!"));
  const auto grandchild = static_cast<pid_t>(std::stoi(read_line(child)));
  ASSERT_TRUE(child.wait(in(kPatience)).has_value());
  EXPECT_TRUE(goes_away(grandchild));
}

TEST(Subprocess, AGrandchildThatHoldsThePipesDoesNotHoldUs) {
  const ProcessResult result = run_process(shell("sleep 1000 & echo started"), kPatience);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.output, "started\n");
}

TEST(Subprocess, LeavesNoZombie) {
  pid_t pid = 0;
  {
    const Subprocess child({.arguments = {"sleep", "1000"}});
    pid = child.pid();
  }
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Subprocess, KeepsTheTailOfStandardError) {
  Subprocess child(shell("yes 0123456 | head -c 1000000 >&2; printf END >&2"));
  ASSERT_TRUE(child.wait(in(kPatience)).has_value());
  const std::string& tail = child.stderr_tail();
  EXPECT_EQ(tail.size(), 64u * 1024);
  EXPECT_TRUE(tail.ends_with("0123456\nEND"));
}

TEST(Subprocess, MovesOwnership) {
  Subprocess first({.arguments = {"cat"}});
  const pid_t pid = first.pid();
  Subprocess second({.arguments = {"cat"}});
  const pid_t replaced = second.pid();
  second = std::move(first);
  EXPECT_EQ(second.pid(), pid);
  EXPECT_TRUE(second.running());
  EXPECT_TRUE(goes_away(replaced));
}

TEST(Subprocess, NamesTheProgramThatCannotBeStarted) {
  const auto message = [](const ProcessOptions& options) -> std::string {
    try {
      const Subprocess child(options);
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_TRUE(message({.arguments = {"whet-absent"}}
  ).starts_with("cannot start 'whet-absent': not found in PATH ("));
  EXPECT_EQ(
      message({.arguments = {"/absent/program"}}),
      "cannot start '/absent/program': executing it: No such file or directory"
  );
  EXPECT_EQ(
      message({.arguments = {"/bin/true"}, .working_folder = "/absent"}),
      "cannot start '/bin/true': entering its working folder: No such file or directory"
  );
}

TEST(Subprocess, GivesTheChildItsEnvironmentAndFolder) {
  ASSERT_EQ(::setenv("WHET_TEST_DROPPED", "x", 1), 0);
  ASSERT_EQ(::setenv("WHET_TEST_REPLACED", "x", 1), 0);
  const TemporaryFolder folder("whet-test-");
  ProcessOptions options = shell("echo $WHET_TEST_SET-$WHET_TEST_REPLACED-$WHET_TEST_DROPPED; pwd");
  options.set_environment = {{"WHET_TEST_SET", "a=b"}, {"WHET_TEST_REPLACED", "y"}};
  options.unset_environment = {"WHET_TEST_DROPPED"};
  options.working_folder = folder.path().string();
  EXPECT_EQ(run_process(options, kPatience).output, "a=b-y-\n" + folder.path().string() + "\n");
}

TEST(Subprocess, LimitsAddressSpaceAndCores) {
  ProcessOptions options = shell("ulimit -v; grep Cpus_allowed_list /proc/self/status");
  options.max_address_space_bytes = 1u << 30;
  options.allowed_cores = {0};
  EXPECT_EQ(run_process(options, kPatience).output, "1048576\nCpus_allowed_list:\t0\n");
}

TEST(Subprocess, HandsDownNoDescriptorAndNoIgnoredSignal) {
  const int leaked = ::open("/dev/null", O_RDONLY);
  ASSERT_GE(leaked, 3);
  struct sigaction ignore {};
  struct sigaction previous {};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGPIPE, &ignore, &previous), 0);
  // Of grep itself, which inherits the shell's: while it waits, a shell may block all signals.
  const ProcessResult result =
      run_process(shell("ls /proc/$$/fd; grep -E 'SigIgn|SigBlk' /proc/self/status"), kPatience);
  ASSERT_EQ(::sigaction(SIGPIPE, &previous, nullptr), 0);
  ::close(leaked);
  EXPECT_EQ(result.output, "0\n1\n2\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Subprocess, DiesWithTheProcessThatStartedIt) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const Subprocess child({.arguments = {"sleep", "1000"}});
    const pid_t pid = child.pid();
    const bool told = ::write(pipe[1], &pid, sizeof pid) == sizeof pid;
    ::_exit(told ? 0 : 1);  // no destructor runs
  }
  pid_t pid = 0;
  ASSERT_EQ(::read(pipe[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(goes_away(pid));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(RunProcess, FeedsInputAndCollectsOutputBothLargerThanAPipe) {
  const std::string input(1u << 20, 'x');
  const ProcessResult result = run_process(shell("tee /dev/stderr"), kPatience, input);
  EXPECT_EQ(result.output, input);
  EXPECT_EQ(result.error_output, std::string(64u * 1024, 'x'));
  EXPECT_EQ(result.exit.describe(), "exit code 0");
}

TEST(RunProcess, KillsAtTheTimeout) {
  const ProcessResult silent = run_process(shell("echo begun; exec sleep 1000"), 200ms);
  EXPECT_TRUE(silent.timed_out);
  EXPECT_TRUE(silent.exit.signaled);
  const ProcessResult endless = run_process(shell("yes >&2"), 50ms);
  EXPECT_TRUE(endless.timed_out);
  EXPECT_TRUE(run_process({.arguments = {"yes"}}, 50ms).timed_out);
}

TEST(RunProcess, TimesOutOnAChildThatClosedItsOutput) {
  const ProcessResult result = run_process(shell("exec >&- 2>&-; exec sleep 1000"), 100ms);
  EXPECT_TRUE(result.timed_out);
}

TEST(RunProcess, StopsFeedingAChildThatDoesNotListen) {
  const ProcessResult result =
      run_process(shell("echo done"), kPatience, std::string(1u << 20, 'x'));
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.output, "done\n");
}

}  // namespace
}  // namespace whet
