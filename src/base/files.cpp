#include "base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <random>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

struct TemporaryFile {
  fs::path path;
  Descriptor descriptor;
};

/// A new file in `folder`, with the permissions that the umask gives any other file.
TemporaryFile create_temporary_file(const fs::path& folder) {
  constexpr int kMaxAttempts = 16;
  std::random_device random;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    fs::path path = folder / fmt::format(".whet-{:08x}{:08x}.tmp", random(), random());
    Descriptor descriptor(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
    if (descriptor) {
      return {std::move(path), std::move(descriptor)};
    }
    if (errno != EEXIST) {
      break;
    }
  }
  throw_errno(fmt::format("cannot create a file in {}", folder.string()));
}

void write_all(int fd, std::string_view bytes, const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t num_written = ::write(fd, bytes.data(), bytes.size());
    if (num_written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(num_written));
    } else if (errno != EINTR) {
      throw_errno(what);
    }
  }
}

/// Makes a rename in `folder` survive a power loss.
void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some network and FUSE file systems cannot sync a folder and say EINVAL.
  if (!descriptor || (::fsync(descriptor.get()) != 0 && errno != EINVAL)) {
    throw_errno(fmt::format("cannot sync folder {}", folder.string()));
  }
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t max_bytes) {
  const std::string what = fmt::format("cannot read {}", path.string());
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) {
    throw_errno(what);
  }
  constexpr std::size_t kChunkBytes = 64 * 1024;
  const auto expected_bytes = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  std::string bytes;
  std::size_t num_read = 0;
  while (true) {
    if (num_read > max_bytes || expected_bytes > max_bytes) {
      throw EnvironmentError(fmt::format("{}: larger than {} bytes", what, max_bytes));
    }
    if (bytes.size() == num_read) {
      bytes.resize(num_read == 0 ? expected_bytes + 1 : num_read + num_read / 2 + kChunkBytes);
    }
    const ssize_t got = ::read(descriptor.get(), bytes.data() + num_read, bytes.size() - num_read);
    if (got == 0) {
      break;
    }
    if (got > 0) {
      num_read += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      throw_errno(what);
    }
  }
  bytes.resize(num_read);
  return bytes;
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  const std::string what = fmt::format("cannot write {}", path.string());
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw EnvironmentError(
        fmt::format("cannot create folder {}: {}", folder.string(), error.message())
    );
  }
  TemporaryFile file = create_temporary_file(folder);
  try {
    write_all(file.descriptor.get(), bytes, what);
    if (::fsync(file.descriptor.get()) != 0) {
      throw_errno(what);
    }
    file.descriptor.close(what);
    if (::rename(file.path.c_str(), path.c_str()) != 0) {
      throw_errno(what);
    }
  } catch (...) {
    fs::remove(file.path, error);
    throw;
  }
  sync_folder(folder);
}

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
  std::error_code error;
  fs::path base = prefix.starts_with('/') ? fs::path() : fs::temp_directory_path(error);
  if (error) {
    throw EnvironmentError(
        fmt::format("there is no folder for temporary files: {}", error.message())
    );
  }
  std::string name = (base / (prefix + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw_errno(fmt::format("cannot create temporary folder {}", name));
  }
  path_ = std::move(name);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
  if (error) {
    std::fprintf(stderr, "whet: cannot remove %s: %s\n", path_.c_str(), error.message().c_str());
  }
}

}  // namespace whet
