#include "base/descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/error.hpp"

namespace whet {

void throw_errno(const std::string& what) {
  const int code = errno;
  throw EnvironmentError(fmt::format("{}: {}", what, std::generic_category().message(code)));
}

void Descriptor::reset() noexcept {
  // Linux frees the descriptor even when close reports EINTR, so it must not be closed again.
  if (fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) {
    std::perror("whet: close");
  }
}

void Descriptor::close(const std::string& what) {
  if (fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) {
    throw_errno(what);
  }
}

}  // namespace whet
