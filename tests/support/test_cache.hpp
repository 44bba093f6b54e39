#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace whet::testing {

/// Compiled kernels and references that tests share: of this user, for as long as the machine
/// likes.
inline std::filesystem::path test_cache() {
  const char* folder = std::getenv("TMPDIR");
  return std::filesystem::path(folder == nullptr ? "/tmp" : folder) /
         ("whet-test-cache-" + std::to_string(::getuid()));
}

}  // namespace whet::testing
