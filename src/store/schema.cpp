#include "store/schema.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace whet {
namespace {

namespace fs = std::filesystem;
using sqlite::Access;
using sqlite::Connection;
using sqlite::Statement;

// docs/formats/records.md describes the columns. A version that was released is never edited: a
// change is a further step. JSON functions are not for checks or generated columns: before 3.41
// SQLite does not take them from a schema that is not trusted.
constexpr std::array<const char*, 1> kMigrations{R"sql(
CREATE TABLE program(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  UNIQUE(key, name, text)
) STRICT;
CREATE TABLE device(
  id INTEGER PRIMARY KEY,
  class TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE(class, name)
) STRICT;
CREATE TABLE environment(
  id INTEGER PRIMARY KEY,
  versions TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  program INTEGER NOT NULL REFERENCES program(id),
  device INTEGER NOT NULL REFERENCES device(id),
  environment INTEGER NOT NULL REFERENCES environment(id),
  target TEXT NOT NULL,
  tolerance_set TEXT NOT NULL,
  options TEXT NOT NULL,
  seed INTEGER NOT NULL,
  started_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX session_program ON session(program);
CREATE TABLE configuration(
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  knobs TEXT NOT NULL
) STRICT;
CREATE TABLE evaluation(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
  configuration INTEGER NOT NULL REFERENCES configuration(id),
  status TEXT NOT NULL,
  result TEXT NOT NULL,
  crc32 INTEGER NOT NULL,
  recorded_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX evaluation_session ON evaluation(session);
CREATE INDEX evaluation_configuration ON evaluation(configuration);
CREATE TABLE sample_block(
  id INTEGER PRIMARY KEY,
  evaluation INTEGER NOT NULL REFERENCES evaluation(id) ON DELETE CASCADE,
  purpose TEXT NOT NULL,
  process INTEGER NOT NULL,
  block INTEGER NOT NULL,
  num_steps INTEGER NOT NULL,
  samples BLOB NOT NULL,
  crc32 INTEGER NOT NULL
) STRICT;
CREATE INDEX sample_block_evaluation ON sample_block(evaluation);
CREATE TABLE decision(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
  verdict TEXT NOT NULL,
  time_ns REAL,
  body TEXT NOT NULL,
  crc32 INTEGER NOT NULL,
  decided_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX decision_session ON decision(session);
CREATE TABLE artifact(
  key TEXT PRIMARY KEY,
  plan TEXT NOT NULL,
  code BLOB NOT NULL,
  sha256 TEXT NOT NULL,
  recorded_ms INTEGER NOT NULL
) STRICT;
)sql"};

struct Identity {
  std::int64_t application_id = 0;
  std::int64_t version = 0;
  bool has_tables = false;
};

std::int64_t query_integer(const Connection& connection, const std::string& sql) {
  Statement statement(connection, sql);
  WHET_CHECK(statement.step(), "{} has no row", sql);
  return statement.integer(0);
}

Identity read_identity(const Connection& connection) {
  // One snapshot, as another process may be making the store now. Unlike BEGIN, this nests.
  connection.execute("SAVEPOINT identity");
  const Identity identity{
      .application_id = query_integer(connection, "PRAGMA application_id"),
      .version = query_integer(connection, "PRAGMA user_version"),
      .has_tables = query_integer(connection, "SELECT count(*) FROM sqlite_schema") > 0};
  connection.execute("RELEASE identity");
  return identity;
}

bool is_empty(const Identity& identity) {
  return identity.application_id == 0 && identity.version == 0 && !identity.has_tables;
}

/// Throws EnvironmentError for what we must not touch.
void refuse_foreign(const Connection& connection, const Identity& identity, Migrations migrations) {
  if (is_empty(identity)) {
    return;
  }
  if (identity.application_id != kApplicationId) {
    throw EnvironmentError(fmt::format(
        "record store {}: this database is another program's (application_id {}, expected {}); it "
        "was not touched. Choose another file with --db",
        connection.name(),
        identity.application_id,
        kApplicationId
    ));
  }
  if (identity.version > std::ssize(migrations)) {
    throw EnvironmentError(fmt::format(
        "record store {}: its schema has version {}, and this whet knows up to version {}; it was "
        "not touched. Use the whet that wrote it or a later one, or choose another file with --db",
        connection.name(),
        identity.version,
        migrations.size()
    ));
  }
}

/// Applies the next step, unless another process did. Says whether one is left.
bool migrate_once(const Connection& connection, Migrations migrations) {
  sqlite::Transaction transaction(connection);
  const Identity identity = read_identity(connection);
  refuse_foreign(connection, identity, migrations);
  if (identity.version == std::ssize(migrations)) {
    return false;
  }
  connection.execute(migrations[static_cast<std::size_t>(identity.version)]);
  connection.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
  connection.execute(fmt::format("PRAGMA user_version = {}", identity.version + 1));
  transaction.commit();
  return true;
}

bool is_there(const fs::path& path) {
  std::error_code error;  // what may not be looked at counts as missing, and shows when it is used
  return fs::exists(path, error);
}

/// `folder` is absolute.
void make_private_folders(const fs::path& folder) {
  if (is_there(folder) || folder == folder.parent_path()) {
    return;
  }
  make_private_folders(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw_errno(fmt::format("record store: cannot make the folder {}", folder.string()));
  }
}

bool is_on_network_file_system(const fs::path& path) {
  // NFS, SMB, CIFS, SMB2, 9P, Lustre, GPFS, Ceph, AFS, FUSE (which may be any of them).
  // Source: linux/magic.h and the file systems' own headers.
  constexpr std::array<std::uint32_t, 10> kMagic{
      0x6969,
      0x517b,
      0xff534d42,
      0xfe534d42,
      0x01021997,
      0x0bd00bd0,
      0x47504653,
      0x00c36400,
      0x5346414f,
      0x65735546};
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) {
    throw_errno(fmt::format("record store: cannot ask for the file system of {}", path.string()));
  }
  return std::find(kMagic.begin(), kMagic.end(), static_cast<std::uint32_t>(status.f_type)) !=
         kMagic.end();
}

void set_journal_mode(const Connection& connection) {
  const bool wal =
      may_use_wal(sqlite3_libversion_number(), is_on_network_file_system(connection.name()));
  Statement statement(connection, fmt::format("PRAGMA journal_mode = {}", wal ? "WAL" : "DELETE"));
  statement.step();
  const std::string mode = statement.bytes(0);
  if (!wal && mode == "wal") {
    throw EnvironmentError(fmt::format(
        "record store {}: it has a write-ahead log that is not safe here (SQLite {}), and is in "
        "use; end the other program first",
        connection.name(),
        sqlite3_libversion()
    ));
  }
}

/// Opens and reads, so that what the file's state forbids shows now.
std::unique_ptr<Connection> try_reading(const fs::path& path, Access access, Identity& identity) {
  auto connection = std::make_unique<Connection>(path, access);
  identity = read_identity(*connection);
  return connection;
}

/// A file in WAL mode in a folder that may not be written, from which its last writer departed.
bool may_be_unchanging(const fs::path& path, int code) {
  const int primary = code & 0xff;
  return (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) &&
         !is_there(path.string() + "-wal") && !is_there(path.string() + "-journal");
}

std::unique_ptr<Connection> open_readable(const fs::path& path, Identity& identity) {
  try {
    return try_reading(path, Access::Read, identity);
  } catch (const sqlite::Failure& failure) {
    if (failure.code() == SQLITE_READONLY_ROLLBACK || failure.code() == SQLITE_READONLY_RECOVERY) {
      // A writer was killed. The first that may write the file undoes what it left half done.
      read_identity(Connection(path, Access::Write));
      return try_reading(path, Access::Read, identity);
    }
    if (may_be_unchanging(path, failure.code())) {
      return try_reading(path, Access::ReadUnchanging, identity);
    }
    throw;
  }
}

std::map<std::string, std::string> schema_of(const Connection& connection) {
  std::map<std::string, std::string> sql_of;
  Statement statement(
      connection, "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema"
  );
  while (statement.step()) {
    sql_of[statement.bytes(0)] = statement.bytes(1);
  }
  return sql_of;
}

}  // namespace

Migrations record_store_migrations() { return kMigrations; }

bool may_use_wal(int sqlite_version, bool on_network_file_system) {
  return sqlite_version >= 3051003 && !on_network_file_system;
}

std::unique_ptr<Connection> open_for_writing(const fs::path& path, Migrations migrations) {
  make_private_folders(fs::absolute(path).parent_path());
  auto connection = std::make_unique<Connection>(path, Access::Write);
  refuse_foreign(*connection, read_identity(*connection), migrations);
  if (connection->is_read_only()) {
    throw EnvironmentError(fmt::format(
        "record store {}: the file may not be written, so nothing could be recorded; change its "
        "permissions, or choose another file with --db",
        connection->name()
    ));
  }
  set_journal_mode(*connection);
  connection->execute("PRAGMA synchronous = FULL");
  while (migrate_once(*connection, migrations)) {
  }
  return connection;
}

std::unique_ptr<Connection> open_for_reading(const fs::path& path, Migrations migrations) {
  if (!is_there(path)) {
    throw EnvironmentError(fmt::format(
        "record store {}: there is no such file. Tune a workload first, or choose another with "
        "--db",
        fs::absolute(path).string()
    ));
  }
  Identity identity;
  std::unique_ptr<Connection> connection = open_readable(path, identity);
  refuse_foreign(*connection, identity, migrations);
  if (identity.version < std::ssize(migrations)) {
    throw EnvironmentError(fmt::format(
        "record store {}: {}; tune a workload to bring it up to date",
        connection->name(),
        is_empty(identity) ? "it is empty"
                           : fmt::format(
                                 "its schema has version {}, and version {} is expected",
                                 identity.version,
                                 migrations.size()
                             )
    ));
  }
  return connection;
}

std::vector<std::string> schema_differences(const Connection& connection, Migrations migrations) {
  const Connection fresh;
  while (migrate_once(fresh, migrations)) {
  }
  const auto expected = schema_of(fresh);
  const auto found = schema_of(connection);
  std::vector<std::string> differences;
  for (const auto& [name, sql] : expected) {
    const auto match = found.find(name);
    if (match == found.end()) {
      differences.push_back(fmt::format("schema: {} is missing", name));
    } else if (match->second != sql) {
      differences.push_back(
          fmt::format("schema: {}: expected {}, found {}", name, sql, match->second)
      );
    }
  }
  for (const auto& [name, sql] : found) {
    if (!expected.contains(name)) {
      differences.push_back(fmt::format("schema: {} is not ours", name));
    }
  }
  return differences;
}

}  // namespace whet
