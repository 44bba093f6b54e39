#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/sqlite.hpp"

namespace whet {

/// "whet" in ASCII: marks our databases.
inline constexpr std::int64_t kApplicationId = 0x77686574;

/// SQL of each step from one version of the schema to the next; the first makes version 1.
using Migrations = std::span<const char* const>;
/// Those of this program.
Migrations record_store_migrations();

/// Opens the file and brings its schema up to date, each step in one transaction; an empty or
/// missing file becomes a new store. Missing parent folders are made, with mode 0700. Throws
/// EnvironmentError, with the file untouched, when it is another program's or a newer version's.
std::unique_ptr<sqlite::Connection> open_for_writing(
    const std::filesystem::path& path, Migrations migrations = record_store_migrations()
);

/// Opens without writing, but for undoing what a writer that was killed left half done. Throws
/// EnvironmentError also when the file is missing, empty, or of an older version.
std::unique_ptr<sqlite::Connection> open_for_reading(
    const std::filesystem::path& path, Migrations migrations = record_store_migrations()
);

/// Where the schema is not what `migrations` make: one sentence each.
std::vector<std::string> schema_differences(
    const sqlite::Connection& connection, Migrations migrations = record_store_migrations()
);

/// Whether a write-ahead log is safe: up to 3.51.2 two connections that commit and checkpoint at
/// once can corrupt the file, and no network file system shares its memory.
/// Source: sqlite.org/wal.html.
bool may_use_wal(int sqlite_version, bool on_network_file_system);

}  // namespace whet
