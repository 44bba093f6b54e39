// A whet-worker that passes each message on to the real one until a fault is due: for tests of what
// its parent makes of that. Usage: faulty_worker FAULT REQUEST NTH TOKENS WORKER...
// A process that finds a file in the folder TOKENS removes it, and misbehaves at the NTH request of
// kind REQUEST; one that finds none is the real worker.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/subprocess.hpp"
#include "harness/protocol.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

/// Whether a fault is due in this process: each file of the folder stands for one.
bool take_token(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (fs::remove(entry.path())) {
      return true;
    }
  }
  return false;
}

void write_raw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written <= 0) {
      std::exit(3);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void sleep_forever() {
  while (true) {
    ::pause();
  }
}

/// The bytes of a frame around `payload`, whatever that is.
std::string frame_around(const std::string& payload) {
  const auto size = static_cast<std::uint32_t>(payload.size());
  std::string frame;
  for (int byte = 0; byte < 4; ++byte) {
    frame += static_cast<char>((size >> (8 * byte)) & 0xffu);
  }
  return frame + payload;
}

[[noreturn]] void commit_fault(const std::string& fault, const fs::path& tokens) {
  write_file_atomically(tokens.string() + ".committed", std::to_string(::getpid()));
  if (fault == "hang") {
    sleep_forever();
  } else if (fault == "kill") {
    ::raise(SIGKILL);
  } else if (fault == "text") {
    write_raw("Segmentation fault? No: a library that prints where it should not.\n");
  } else if (fault == "not-json") {
    write_raw(frame_around("{\"protocol\": 1, \"kind\": \"validated\", \"body\": {"));
  } else if (fault == "other-version") {
    write_raw(frame_around(R"({"protocol": 99, "kind": "validated", "body": {}})"));
  } else if (fault == "other-answer") {
    write_raw(frame_around(R"({"protocol": 1, "kind": "compiled", "body": {}})"));
  } else if (fault == "empty-answer") {
    write_raw(frame_around(R"({"protocol": 1, "kind": "validated", "body": {}})"));
  } else if (fault == "torn") {
    write_raw(frame_around(std::string(100, ' ')).substr(0, 50));
    std::exit(0);
  } else if (fault == "exit") {
    std::fprintf(stderr, "the worker's last words\n");
    std::exit(7);
  } else {
    throw InternalError("no such fault: " + fault);
  }
  sleep_forever();
}

int run(const std::vector<std::string>& arguments) {
  const std::string& fault = arguments.at(1);
  const std::string& kind = arguments.at(2);
  const int nth = std::stoi(arguments.at(3));
  const fs::path tokens = arguments.at(4);
  const std::vector<std::string> worker(arguments.begin() + 5, arguments.end());
  if (!take_token(tokens)) {
    std::vector<char*> argv;
    for (const std::string& argument : worker) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    throw_errno("cannot become " + worker.at(0));
  }
  ProcessOptions start;
  start.arguments = worker;
  start.capture_stderr = false;
  Subprocess real(start);
  int num_seen = 0;
  while (true) {
    const FrameOutcome request = read_frame(STDIN_FILENO);
    if (std::holds_alternative<FrameFailure>(request)) {
      return 0;
    }
    const Message& message = std::get<Message>(request);
    if (message.kind == kind && ++num_seen == nth) {
      commit_fault(fault, tokens);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    if (write_frame(real, message, deadline)) {
      return 4;
    }
    const FrameOutcome answer = read_frame(real, deadline);
    if (std::holds_alternative<FrameFailure>(answer)) {
      return 4;
    }
    write_frame(STDOUT_FILENO, std::get<Message>(answer));
  }
}

}  // namespace
}  // namespace whet

int main(int argc, char** argv) {
  try {
    return whet::run({argv, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "faulty_worker: %s\n", error.what());
    return 70;
  }
}
