#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace whet {

/// The whole file. Throws EnvironmentError with the system's text.
std::string read_file(const std::filesystem::path& path);

/// Writes a temporary file beside `path`, syncs it and renames it over `path`: readers see the old
/// or the new content, never a part. Creates missing parent folders. Throws EnvironmentError.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// A private folder (mode 0700) that is removed with all its content when the object goes.
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
