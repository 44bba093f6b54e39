#include "harness/child_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <thread>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "harness/messages.hpp"
#include "harness/process_tree.hpp"

namespace whet {
namespace {

/// The two ends of the conversation, moved away from the standard streams.
struct Channel {
  Descriptor requests;
  Descriptor answers;
};

Descriptor moved_away(int fd) {
  Descriptor copy(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!copy) {
    throw_errno("cannot duplicate a standard stream");
  }
  return copy;
}

Channel take_standard_streams() {
  Channel channel{.requests = moved_away(STDIN_FILENO), .answers = moved_away(STDOUT_FILENO)};
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing || ::dup2(nothing.get(), STDIN_FILENO) < 0 ||
      ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw_errno("cannot redirect the standard streams");
  }
  return channel;
}

Message answer(const std::function<Message(const Message&)>& handle, const Message& request) {
  try {
    return handle(request);
  } catch (const Error& error) {
    return encode(ErrorResponse{.exit_code = error.exit_code(), .text = error.what()});
  } catch (const std::exception& error) {
    const std::string text = fmt::format("while serving '{}': {}", request.kind, error.what());
    return encode(ErrorResponse{.exit_code = 70, .text = text});
  }
}

void set_limit(int resource, rlim_t value, const char* name) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) {
    throw_errno(fmt::format("cannot read the limit {}", name));
  }
  limit.rlim_max = std::min(limit.rlim_max, value);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) {
    throw_errno(fmt::format("cannot set the limit {}", name));
  }
}

}  // namespace

int serve_requests(const char* program, const std::function<Message(const Message&)>& handle) {
  try {
    ::signal(SIGPIPE, SIG_IGN);
    const Channel channel = take_standard_streams();
    while (true) {
      const FrameOutcome request = read_frame(channel.requests.get());
      if (const auto* failure = std::get_if<FrameFailure>(&request)) {
        if (failure->fault == FrameFault::Closed) {
          return 0;
        }
        throw EnvironmentError("broken request: " + failure->detail);
      }
      write_frame(channel.answers.get(), answer(handle, std::get<Message>(request)));
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return error.exit_code();
  }
}

void end_descendants_on_termination() {
  sigset_t termination;
  ::sigemptyset(&termination);
  ::sigaddset(&termination, SIGTERM);
  const int blocked = ::pthread_sigmask(SIG_BLOCK, &termination, nullptr);
  WHET_CHECK(blocked == 0, "pthread_sigmask gave {}", blocked);
  const pid_t parent = ::getppid();
  std::thread([termination] {
    int number = 0;
    while (::sigwait(&termination, &number) != 0) {
    }
    kill_descendants(::getpid());
    ::_exit(128 + SIGTERM);
  }).detach();
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
    throw_errno("cannot ask for a signal when the parent dies");
  }
  if (::getppid() != parent) {
    ::_exit(128 + SIGTERM);  // it died before prctl
  }
}

void limit_resources(bool limit_memory) {
  set_limit(RLIMIT_CORE, 0, "RLIMIT_CORE");
  set_limit(RLIMIT_FSIZE, rlim_t{1} << 30, "RLIMIT_FSIZE");
  if (limit_memory) {
    set_limit(RLIMIT_AS, rlim_t{8} << 30, "RLIMIT_AS");
  }
}

}  // namespace whet
