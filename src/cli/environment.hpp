#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace whet {

/// All that the command line takes from its surroundings, read once. Empty paths: not to be found.
struct Environment {
  std::filesystem::path program_folder;    ///< where whet and its child programs lie
  std::filesystem::path configs_folder;    ///< devices/, tolerances.json
  std::filesystem::path workloads_folder;  ///< the workloads that are shipped
  std::filesystem::path database;          ///< WHET_DB, else below XDG_DATA_HOME or HOME
  std::filesystem::path cache_folder;      ///< below XDG_CACHE_HOME or HOME
  std::optional<std::string> cuda_visible_devices;
  bool output_is_terminal = false;  ///< standard error, where progress goes
};

/// Reads the variables and finds the folders relative to this program. Does not throw for what is
/// missing.
Environment read_environment();

/// `chosen` (--db) or the environment's. Throws EnvironmentError when there is neither.
std::filesystem::path database_path(const Environment& environment, const std::string& chosen);
/// Throws EnvironmentError when there is none.
std::filesystem::path cache_folder(const Environment& environment);
/// Throws EnvironmentError when the installation has none.
std::filesystem::path configs_folder(const Environment& environment);

}  // namespace whet
