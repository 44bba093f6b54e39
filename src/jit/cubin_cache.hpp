#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/evaluation.hpp"

namespace whet {

/// What decides compiled code.
struct ArtifactIdentity {
  std::string target;    ///< "cpu", "cuda sm_90a"
  std::string compiler;  ///< name and version
  std::vector<std::string> arguments;
  std::string source_sha256;
};
/// 64 hexadecimal digits: the SHA-256 of all of them.
std::string artifact_key(const ArtifactIdentity& identity);

/// A folder of compiled code that may be deleted at any time. An artifact lies beside a note with
/// its SHA-256 and resources; without a note that fits it does not count, so a file that was cut
/// short, altered or mixed with another's note is built again.
class CubinCache {
 public:
  /// Makes the folder (mode 0700) if it is missing. Throws EnvironmentError when it cannot, or when
  /// the folder is not ours or others may write to it: they could make us run their code.
  explicit CubinCache(const std::filesystem::path& folder);

  struct Entry {
    std::filesystem::path artifact;
    Resources resources;
  };
  /// `extension` is ".cubin" or ".so".
  std::optional<Entry> find(const std::string& key, const std::string& extension) const;
  /// Publishes by renaming, so that others see all or nothing. Throws EnvironmentError.
  Entry store(
      const std::string& key,
      const std::string& extension,
      std::string_view bytes,
      const Resources& resources
  ) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace whet
