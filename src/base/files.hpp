#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace whet {

/// The whole file. Throws EnvironmentError with the system's text, or when it is longer than
/// `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = SIZE_MAX);

/// Writes a temporary file beside `path`, syncs it and renames it over `path`: readers see the old
/// or the new content, never a part. Creates missing parent folders. Throws EnvironmentError.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// A private folder (mode 0700) that is removed with all its content when the object goes. Its name
/// is `prefix` and random letters, in the system's temporary folder unless `prefix` is absolute.
class TemporaryFolder {
 public:
  /// Throws EnvironmentError.
  explicit TemporaryFolder(const std::string& prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace whet
