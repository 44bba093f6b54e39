#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace whet {

/// What ends a command. Caught only in each program's `main` and in the C interface.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// The exit code of a command that this error ends (DESIGN: 2 user, 3 environment, 70 our bug).
  virtual int exit_code() const noexcept = 0;
};

/// A file or flag that the user can correct.
class UserError : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 2; }
};

/// CUDA, NVRTC, SQLite, a compiler or the operating system refused.
class EnvironmentError : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 3; }
};

/// Our bug.
class InternalError : public Error {
 public:
  using Error::Error;
  int exit_code() const noexcept override { return 70; }
};

/// Throws InternalError naming the place and the failed condition. Called by WHET_CHECK.
[[noreturn]] void check_failed(
    const char* file, int line, const char* condition, const std::string& detail
);

}  // namespace whet

/// An invariant of ours, checked in release builds too: `WHET_CHECK(a == b, "a is {}", a)`.
#define WHET_CHECK(condition, ...)                                                      \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      ::whet::check_failed(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
    }                                                                                   \
  } while (false)
