#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

/// SQLite 3, as much of it as the record store uses.
namespace whet::sqlite {

/// What SQLite refused, with its text and extended result code.
class Failure : public EnvironmentError {
 public:
  Failure(const std::string& message, int code) : EnvironmentError(message), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

enum class Access {
  Read,
  ReadUnchanging,  ///< as Read, of a file that nobody writes: needs no file beside it
  Write,           ///< makes the file if it is missing
};

/// A database, for one thread, and never across a fork. Schema objects are not trusted, foreign
/// keys hold, and waiting for another process's lock ends after 10 s.
class Connection {
 public:
  /// Does not read the file yet. Throws Failure.
  Connection(const std::filesystem::path& path, Access access);
  /// A database in memory.
  Connection();

  /// Runs statements without parameters or rows.
  void execute(const std::string& sql) const;
  /// Key of the last row inserted into a table.
  std::int64_t last_row() const;
  bool is_read_only() const;
  /// Names the database in messages.
  const std::string& name() const { return name_; }
  sqlite3* handle() const { return database_.get(); }

  /// Throws Failure "record store NAME: WHAT: SQLite's text, and what to do".
  [[noreturn]] void fail(int code, const std::string& what) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };

  void open(const std::string& name, int flags);

  std::string name_;
  std::unique_ptr<sqlite3, Close> database_;
};

/// Bytes to store as they are.
struct Blob {
  std::string_view bytes;
};

/// A statement of `sql` with its parameters. Throws Failure.
class Statement {
 public:
  template <typename... Values>
  Statement(const Connection& connection, const std::string& sql, const Values&... values)
      : Statement(connection, sql, Prepare{}) {
    int position = 0;
    (bind(++position, values), ...);
  }

  /// Advances to the next row; false after the last.
  bool step();
  /// Runs to the end.
  void run();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  /// Text or blob.
  std::string bytes(int column) const;

 private:
  struct Prepare {};
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  Statement(const Connection& connection, const std::string& sql, Prepare);
  void bind(int position, std::int64_t value);
  void bind(int position, std::optional<double> value);  ///< nothing: NULL
  void bind(int position, std::string_view value);
  void bind(int position, Blob value);
  void check(int code, int expected) const;

  const Connection& connection_;
  std::string sql_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// Holds the write lock from the start, as a lock taken later can fail at once. What is not
/// committed is rolled back.
class Transaction {
 public:
  explicit Transaction(const Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  const Connection& connection_;
  bool committed_ = false;
};

}  // namespace whet::sqlite
