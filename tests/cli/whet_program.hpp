#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/subprocess.hpp"

namespace whet {

/// Whether `part` stands in `text`; shows the text when it does not.
inline testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) {
    return testing::AssertionSuccess() << '"' << part << "\" stands in: " << text;
  }
  return testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
}

/// The built `whet` in a home of its own: its records and cache go with the object.
class WhetProgram {
 public:
  /// Long enough for what only generates and compiles, on a loaded machine.
  static constexpr std::chrono::seconds kShort{100};

  ProcessResult run(
      const std::vector<std::string>& arguments,
      std::chrono::milliseconds timeout = kShort,
      const std::string& input = ""
  ) const {
    return run_process(process_options(arguments), timeout, input);
  }

  /// How `run` starts it, for tests that change its surroundings.
  ProcessOptions process_options(const std::vector<std::string>& arguments) const {
    ProcessOptions options;
    options.arguments = {WHET_BIN_DIR "/whet"};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    options.set_environment = {
        {"HOME", home()},
        {"XDG_DATA_HOME", home() + "/data"},
        {"XDG_CACHE_HOME", cache()},
        {"CUDA_VISIBLE_DEVICES", ""}};
    options.unset_environment = {"WHET_DB"};
    options.working_folder = home();
    return options;
  }

  /// Sends SIGINT once standard error holds `words`; the exit code, or -1 if it came to that
  /// neither way.
  int interrupt_once_it_says(
      const std::vector<std::string>& arguments,
      const std::string& words,
      std::chrono::milliseconds timeout
  ) const {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    Subprocess child(process_options(arguments));
    // wait() drains standard error; its short deadline is what the loop polls by.
    constexpr std::chrono::milliseconds kPoll{20};
    bool told = false;
    while (std::chrono::steady_clock::now() < deadline) {
      if (const auto exit = child.wait(std::chrono::steady_clock::now() + kPoll)) {
        return exit->signaled ? -1 : exit->code;
      }
      if (!told && child.stderr_tail().find(words) != std::string::npos) {
        kill(child.pid(), SIGINT);
        told = true;
      }
    }
    return -1;
  }

  std::string home() const { return home_.path().string(); }
  /// A file of the home with this text.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = home_.path() / name;
    write_file_atomically(path, text);
    return path.string();
  }

  static std::string workload(const std::string& name) {
    return WHET_SOURCE_DIR "/workloads/" + name;
  }

 private:
  std::string cache() const { return home() + "/cache"; }

  TemporaryFolder home_{"whet-cli-test-"};
};

}  // namespace whet
