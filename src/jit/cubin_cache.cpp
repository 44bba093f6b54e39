#include "jit/cubin_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;

// The note of an artifact is JSON: {"schema", "sha256", "resources": {…}}.
constexpr const char* kNoteSchema = "whet.artifact/1";
constexpr const char* kNoteExtension = ".json";

constexpr std::array<std::pair<const char*, std::int64_t Resources::*>, 6> kResourceFields = {{
    {"registers", &Resources::registers},
    {"spill_store_bytes", &Resources::spill_store_bytes},
    {"spill_load_bytes", &Resources::spill_load_bytes},
    {"static_shared_bytes", &Resources::static_shared_bytes},
    {"dynamic_shared_bytes", &Resources::dynamic_shared_bytes},
    {"code_bytes", &Resources::code_bytes},
}};

std::string write_note(const std::string& sha256, const Resources& resources) {
  Json note = {{"schema", kNoteSchema}, {"sha256", sha256}, {"resources", Json::object()}};
  for (const auto& [name, field] : kResourceFields) {
    note["resources"][name] = resources.*field;
  }
  return note.dump() + "\n";
}

/// The resources, if the note is one of ours and belongs to the artifact.
std::optional<Resources> read_note(const std::string& text, const std::string& sha256) {
  try {
    const JsonCursor note = JsonCursor::parse_text(text, "note");
    if (note.at("schema").as_string() != kNoteSchema || note.at("sha256").as_string() != sha256) {
      return std::nullopt;
    }
    Resources resources;
    for (const auto& [name, field] : kResourceFields) {
      resources.*field = note.at("resources").at(name).as_integer(0);
    }
    return resources;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

/// The file's content, or nothing if it is not there or cannot be read: a miss either way.
std::optional<std::string> read_if_there(const fs::path& file) {
  try {
    return read_file(file);
  } catch (const EnvironmentError&) {
    return std::nullopt;
  }
}

void refuse_foreign(const fs::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    throw_errno(fmt::format("cannot look at the cache folder {}", folder.string()));
  }
  const auto refuse = [&](const std::string& why) {
    throw EnvironmentError(fmt::format(
        "the cache folder {} {}; name a private folder with --cache, or `chmod 700` it",
        folder.string(),
        why
    ));
  };
  if (!S_ISDIR(status.st_mode)) {
    refuse("is not a folder");
  }
  if (status.st_uid != ::geteuid()) {
    refuse(fmt::format("belongs to user {}, not to user {}", status.st_uid, ::geteuid()));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    refuse(fmt::format("has mode {:o}: others may write to it", status.st_mode & 07777u));
  }
}

}  // namespace

std::string artifact_key(const ArtifactIdentity& identity) {
  // As JSON, so that no two lists of arguments print alike.
  const Json fields = {
      {"target", identity.target},
      {"compiler", identity.compiler},
      {"arguments", identity.arguments},
      {"source", identity.source_sha256},
  };
  return sha256_hex(fields.dump());
}

CubinCache::CubinCache(const fs::path& folder)
    : folder_(folder.has_filename() ? folder : folder.parent_path()) {
  WHET_CHECK(!folder_.empty(), "no cache folder was given");
  std::error_code error;
  if (folder_.has_parent_path()) {
    fs::create_directories(folder_.parent_path(), error);
  }
  if (!error && ::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    error.assign(errno, std::system_category());
  }
  if (error) {
    throw EnvironmentError(
        fmt::format("cannot make the cache folder {}: {}", folder_.string(), error.message())
    );
  }
  refuse_foreign(folder_);
}

std::optional<CubinCache::Entry> CubinCache::find(
    const std::string& key, const std::string& extension
) const {
  const fs::path artifact = folder_ / (key + extension);
  const std::optional<std::string> note = read_if_there(folder_ / (key + kNoteExtension));
  const std::optional<std::string> bytes = note ? read_if_there(artifact) : std::nullopt;
  if (!bytes) {
    return std::nullopt;
  }
  const std::optional<Resources> resources = read_note(*note, sha256_hex(*bytes));
  if (!resources) {
    return std::nullopt;
  }
  return Entry{.artifact = artifact, .resources = *resources};
}

CubinCache::Entry CubinCache::store(
    const std::string& key,
    const std::string& extension,
    std::string_view bytes,
    const Resources& resources
) const {
  const fs::path artifact = folder_ / (key + extension);
  write_file_atomically(artifact, bytes);
  write_file_atomically(folder_ / (key + kNoteExtension), write_note(sha256_hex(bytes), resources));
  return {.artifact = artifact, .resources = resources};
}

}  // namespace whet
