#include "store/sqlite.hpp"

#include <sqlite3.h>

#include <cctype>
#include <cstdio>

namespace whet::sqlite {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

/// What a user can do about a primary result code.
std::string_view advice(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another process held it for more than 10 s: wait for it, or end it";
    case SQLITE_NOTADB:
      return "; the file is not a database or its header is damaged: move it aside, or choose "
             "another with --db";
    case SQLITE_CORRUPT:
      return "; the file is damaged: run `whet db check`, and restore a copy or move it aside";
    case SQLITE_CANTOPEN:
      return "; look at the permissions of the file and its folder (SQLite takes paths of at most "
             "504 bytes)";
    case SQLITE_READONLY:
      return "; the file or its folder may not be written: choose another with --db";
    case SQLITE_FULL:
      return "; make room on the disk";
    default:
      return "";
  }
}

int open_flags(Access access) {
  switch (access) {
    case Access::Read:
      return SQLITE_OPEN_READONLY;
    case Access::ReadUnchanging:
      return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    default:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
}

/// Source: RFC 3986, section 2; only a URI can say that a file does not change.
std::string unchanging_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char byte : path) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x80 && (std::isalnum(code) != 0 || byte == '/')) {
      uri += byte;
    } else {
      uri += fmt::format("%{:02X}", code);
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

void Connection::Close::operator()(sqlite3* database) const noexcept {
  const int code = sqlite3_close_v2(database);
  if (code != SQLITE_OK) {
    std::fprintf(stderr, "whet: closing the record store: %s\n", sqlite3_errstr(code));
  }
}

Connection::Connection(const std::filesystem::path& path, Access access) {
  // Absolute, so that no spelling ("file:x", ":memory:", "") is special to SQLite.
  const std::string absolute = std::filesystem::absolute(path).string();
  name_ = absolute;
  open(access == Access::ReadUnchanging ? unchanging_uri(absolute) : absolute, open_flags(access));
}

Connection::Connection() : name_("in memory") {
  open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY);
}

void Connection::open(const std::string& name, int flags) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &database, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  database_.reset(database);  // also after a failure, for its message
  if (code != SQLITE_OK) {
    fail(code, "cannot open it");
  }
  const auto configure = [&](int option, int value) {
    const int result = sqlite3_db_config(database, option, value, nullptr);
    if (result != SQLITE_OK) {
      fail(result, "cannot configure the connection");
    }
  };
  configure(SQLITE_DBCONFIG_DEFENSIVE, 1);
  configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
  configure(SQLITE_DBCONFIG_ENABLE_FKEY, 1);
  const int result = sqlite3_busy_timeout(database, kBusyTimeoutMs);
  if (result != SQLITE_OK) {
    fail(result, "cannot set the time to wait for a lock");
  }
}

void Connection::execute(const std::string& sql) const {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    fail(code, sql);
  }
}

std::int64_t Connection::last_row() const { return sqlite3_last_insert_rowid(database_.get()); }

bool Connection::is_read_only() const { return sqlite3_db_readonly(database_.get(), "main") != 0; }

void Connection::fail(int code, const std::string& what) const {
  const char* text = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code);
  throw Failure(
      fmt::format("record store {}: {}: {} (SQLite {}){}", name_, what, text, code, advice(code)),
      code
  );
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  // Its result repeats that of the last step, which was checked.
  sqlite3_finalize(statement);
}

Statement::Statement(const Connection& connection, const std::string& sql, Prepare)
    : connection_(connection), sql_(sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(
      connection.handle(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr
  );
  statement_.reset(statement);
  check(code, SQLITE_OK);
}

void Statement::bind(int position, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), position, value), SQLITE_OK);
}

void Statement::bind(int position, std::optional<double> value) {
  check(
      value ? sqlite3_bind_double(statement_.get(), position, *value)
            : sqlite3_bind_null(statement_.get(), position),
      SQLITE_OK
  );
}

void Statement::bind(int position, std::string_view value) {
  check(
      sqlite3_bind_text64(
          statement_.get(), position, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8
      ),
      SQLITE_OK
  );
}

void Statement::bind(int position, Blob value) {
  // A null pointer would bind NULL.
  const char* data = value.bytes.empty() ? "" : value.bytes.data();
  check(
      sqlite3_bind_blob64(statement_.get(), position, data, value.bytes.size(), SQLITE_TRANSIENT),
      SQLITE_OK
  );
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    return true;
  }
  check(code, SQLITE_DONE);
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr
             ? std::string()
             : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

void Statement::check(int code, int expected) const {
  if (code != expected) {
    connection_.fail(code, sql_);
  }
}

Transaction::Transaction(const Connection& connection) : connection_(connection) {
  connection_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back by itself.
  if (committed_ || sqlite3_get_autocommit(connection_.handle()) != 0) {
    return;
  }
  const int code = sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    std::fprintf(
        stderr, "whet: rolling back in %s: %s\n", connection_.name().c_str(), sqlite3_errstr(code)
    );
  }
}

void Transaction::commit() {
  connection_.execute("COMMIT");
  committed_ = true;
}

}  // namespace whet::sqlite
