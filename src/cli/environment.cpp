#include "cli/environment.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/error.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

/// An empty variable counts as unset, as the XDG specification has it.
std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') {
    return std::nullopt;
  }
  return value;
}

/// "whet" below the folder that `name` gives, or below `fallback` in HOME. Source: the XDG base
/// directory specification, which ignores relative paths.
fs::path personal_folder(const char* name, const char* fallback) {
  if (const auto chosen = variable(name); chosen && fs::path(*chosen).is_absolute()) {
    return fs::path(*chosen) / "whet";
  }
  if (const auto home = variable("HOME")) {
    return fs::path(*home) / fallback / "whet";
  }
  return {};
}

fs::path find_program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path();
}

/// A shipped folder: beside bin/ in an archive, in share/ when installed, three up from
/// build/release/bin in a checkout. It counts if it holds `witness`.
fs::path find_shipped(const fs::path& program_folder, const char* folder, const char* witness) {
  for (const char* up : std::array{"..", "../share/whet", "../../.."}) {
    std::error_code error;
    const fs::path found = fs::weakly_canonical(program_folder / up / folder, error);
    if (!error && fs::exists(found / witness, error)) {
      return found;
    }
  }
  return {};
}

}  // namespace

Environment read_environment() {
  Environment environment;
  environment.program_folder = find_program_folder();
  environment.configs_folder =
      find_shipped(environment.program_folder, "configs", "tolerances.json");
  environment.workloads_folder =
      find_shipped(environment.program_folder, "workloads", "seeds.json");
  if (const auto chosen = variable("WHET_DB")) {
    environment.database = *chosen;
  } else if (const fs::path folder = personal_folder("XDG_DATA_HOME", ".local/share");
             !folder.empty()) {
    environment.database = folder / "records.db";
  }
  environment.cache_folder = personal_folder("XDG_CACHE_HOME", ".cache");
  // Set but empty means something to CUDA: no device.
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    environment.cuda_visible_devices = visible;
  }
  environment.output_is_terminal = isatty(STDERR_FILENO) == 1;
  return environment;
}

fs::path database_path(const Environment& environment, const std::string& chosen) {
  if (!chosen.empty()) {
    return chosen;
  }
  if (environment.database.empty()) {
    throw EnvironmentError(
        "no place for the records: HOME, XDG_DATA_HOME and WHET_DB are not set; set one, or give "
        "--db FILE"
    );
  }
  return environment.database;
}

fs::path cache_folder(const Environment& environment) {
  if (environment.cache_folder.empty()) {
    throw EnvironmentError(
        "no place for compiled code: HOME and XDG_CACHE_HOME are not set; set one of them"
    );
  }
  return environment.cache_folder;
}

fs::path configs_folder(const Environment& environment) {
  if (environment.configs_folder.empty()) {
    throw EnvironmentError(fmt::format(
        "expected configs/ with tolerances.json beside or above {}, found none; keep whet's "
        "programs inside its archive, or below its checkout",
        environment.program_folder.string()
    ));
  }
  return environment.configs_folder;
}

}  // namespace whet
