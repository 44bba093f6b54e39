#pragma once

#include <string>
#include <utility>

namespace whet {

/// Throws EnvironmentError "WHAT: the system's text for errno".
[[noreturn]] void throw_errno(const std::string& what);

/// Owns a POSIX file descriptor; -1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Closes; an error is reported on standard error, as nobody could act on it.
  void reset() noexcept;
  /// Closes. Throws EnvironmentError: on some file systems a lost write shows only here.
  void close(const std::string& what);

 private:
  int fd_ = -1;
};

}  // namespace whet
