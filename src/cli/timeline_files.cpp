#include "cli/timeline_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/files.hpp"
#include "report/timeline_svg.hpp"
#include "report/timeline_trace.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

void check_file(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension != ".json" && extension != ".svg") {
    throw UserError(fmt::format(
        "--timeline {}: expected a file that ends in .json (a trace for Perfetto) or .svg (a "
        "picture), found {}",
        path.string(),
        extension.empty() ? "no extension" : "\"" + extension + "\""
    ));
  }
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw UserError(fmt::format("--timeline {}: is a folder; name a file", path.string()));
  }
  // Missing folders are created: the nearest one that exists decides.
  fs::path folder = fs::absolute(path).parent_path();
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  const bool is_folder = fs::is_directory(folder, ignored);
  if (!is_folder || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw UserError(fmt::format(
        "--timeline {}: cannot write below {}: {}; name a file elsewhere",
        path.string(),
        folder.string(),
        is_folder ? std::strerror(errno) : "it is not a folder"
    ));
  }
}

}  // namespace

void check_timeline_files(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    check_file(file);
  }
}

void write_timeline_files(
    const std::vector<std::string>& files, const Timeline& timeline, const TimelineTitle& title
) {
  for (const std::string& file : files) {
    const bool is_picture = fs::path(file).extension() == ".svg";
    write_file_atomically(file, is_picture ? to_svg(timeline, title) : to_trace(timeline, title));
  }
}

}  // namespace whet
